"""Streams of events, drawn by Hypothesis or made one like the other, and models that had them."""

from hypothesis import strategies as st

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet

letters = st.sampled_from("abcdef")
learn = st.builds(
    lambda features, classes, event_id: Event.learn(Instance(features), classes, event_id),
    st.dictionaries(letters, st.floats(0.1, 9), min_size=1, max_size=4),
    st.lists(letters, min_size=1, max_size=2),
    st.none() | st.uuids().map(str),
)
events = st.one_of(
    learn,
    learn,
    learn,
    letters.map(Event.forget_class),
    letters.map(Event.forget_feature),
    st.sampled_from([0.0, 0.5]).map(
        lambda m: Event.configure(ModelSet(Options(margin_threshold=m)).to_dict())
    ),
)
streams = st.lists(events, max_size=30)

model_sets = st.builds(
    lambda answering, shadows: ModelSet(
        answering, tuple(each for each in shadows if each != answering)
    ),
    st.sampled_from([Options(), Options(rating=0), Options.of("pa")]),
    st.lists(
        st.sampled_from([Options(), Options(rating=2), Options.of("pa", replay=2)]),
        max_size=3,
        unique=True,
    ),
)
changes = st.one_of(
    model_sets.map(lambda model_set: Event.configure(model_set.to_dict())),
    model_sets.map(lambda model_set: Event.promote(model_set.labels[-1])),
    model_sets.map(lambda model_set: Event.configure({"added": model_set.primary.to_dict()})),
    model_sets.map(lambda model_set: Event.configure({"removed": model_set.labels[-1]})),
)
streams_with_shadows = st.lists(st.one_of(learn, learn, learn, events, changes), max_size=30)


def applied(stream, model=None):
    """Return the model, or a new one, after these events."""
    model = model or Model(Options())
    for event in stream:
        model.apply(model.seq + 1, event)
    return model


def lessons(count, begin=0):
    """Return so many events without ids, of six classes."""
    return [
        Event.learn(Instance({f"f{n % 7}": 1, f"g{n % 5}": 2, "always": 1}), [f"c{n % 6}"])
        for n in range(begin, begin + count)
    ]


def taught(count=50, **options):
    """Return a model after so many events, of six classes and with ids."""
    model = Model(Options(margin_threshold=0.5, **options))
    for n in range(count):
        instance = Instance({f"f{n % 7}": 1, f"g{n % 5}": 2, "always": 1})
        model.apply(n + 1, Event.learn(instance, [f"c{n % 6}"], event_id=f"id{n}"))
    return model
