"""Instances from the features, the text and the vector of a body, made in a thread if they are
large."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec import UNSET

from manyclass.core.errors import InstanceError
from manyclass.core.instance import Instance
from manyclass.core.outline import count_members
from manyclass.core.text import MOST_FIELDS, AnalysedText, TextAnalysis
from manyclass.service.http.decoding import LONGEST_SHOWN, NULL, decode, names_of
from manyclass.service.http.problems import Problem, invalid
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.schemas.parts import Names
from manyclass.service.http.schemas.rank import RankInstance
from manyclass.service.http.time_slice import run_in_thread

LARGE_BYTES = 65_536  # of JSON; less takes at most a millisecond or two to decode
LONG_TEXT = 16_384  # characters; the analysis of a longer text releases the GIL

Form = RankInstance | LearnEvent | LearnRequest

_features = msgspec.json.Decoder(dict[str, float] | Names)
_values = msgspec.json.Decoder(dict[str, msgspec.Raw])
_value = msgspec.json.Decoder(float)


def instance_of(form: Form, analysis: TextAnalysis, most_features: int) -> AnalysedText:
    """Return the instance of a form, which must have `features` or `text`, a `vector`, or both, and
    the amount of its text that was left out.
    """
    vector = vector_of(form)
    read = _without_vector(form, analysis, most_features, vector is not None)
    if vector is None:
        return read
    return read._replace(instance=read.instance.with_vector_of_json(vector))


def _without_vector(
    form: Form, analysis: TextAnalysis, most_features: int, has_vector: bool
) -> AnalysedText:
    """Return the instance of the features or the text of a form; a form that `has_vector` needs
    none.
    """
    features, text = features_of(form), form.text
    if features is None:
        if text is None:
            if has_vector:
                return whole(Instance({}))
            raise invalid("An instance needs `features`, `text` or `vector`.")
        if not text and form.given_text:
            raise invalid(f"A text has 1 to {MOST_FIELDS} fields; all are null here.", "text")
        with _about_the_text():
            return analysis.instance_of(text, most_features)
    if text is not None:
        raise invalid("An instance has either `features` or `text`, not both.", "text")
    instance = Instance.from_json(features, most_features)
    if instance is None:
        instance = _instance_of_json(features, most_features)
    return whole(instance)


def whole(instance: Instance) -> AnalysedText:
    """Return an instance with the note that nothing was left out."""
    return AnalysedText(instance, 0, False)


def features_of(form: Form) -> msgspec.Raw | None:
    """Return the features of a form as JSON, or None."""
    features = form.features
    return None if features is UNSET or features == NULL else features


def vector_of(form: Form) -> msgspec.Raw | None:
    """Return the vector of a form as JSON, or None."""
    vector = form.vector
    return None if vector is UNSET or vector == NULL else vector


def is_large(form: Form) -> bool:
    """Return whether the instance of a form must be made in a thread."""
    text = form.text
    if text is not None:
        return (len(text) if isinstance(text, str) else sum(map(len, text.values()))) > LONG_TEXT
    return form.features is not UNSET and len(memoryview(form.features)) > LARGE_BYTES


async def large_instance_of(form: Form, analysis: TextAnalysis, most_features: int) -> AnalysedText:
    """Return the result of `instance_of`, made with the GIL released."""
    return await run_in_thread(instance_of, form, analysis, most_features)


def _instance_of_json(data: msgspec.Raw, most_features: int) -> Instance:
    """Return the instance of features in a rare form, or raise Problem for a fault in them.

    `Instance.from_json` handles the common forms.
    """
    if count_members(data, most_features) > most_features:  # check before making objects
        raise invalid(f"An instance has at most {most_features} features.", "features")
    try:
        features = decode(_features, data, ("features",))
    except Problem as problem:
        name = _name_of_wrong_value(data) if problem.status == 422 else None
        if name is None or len(name) > LONGEST_SHOWN:
            raise
        raise invalid(problem.detail, "features", name) from problem
    if isinstance(features, dict):
        return Instance(features)
    names = names_of(features, "features")
    try:
        return Instance(names)
    except InstanceError as error:
        position = [*map(str, names)].index(str(error.where[-1]))
        raise invalid(str(error), "features", position) from error


def _name_of_wrong_value(data: msgspec.Raw) -> str | None:
    """Return the first feature whose value is not a number, or None for other faults."""
    try:
        values = _values.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    for name, value in values.items():
        try:
            _value.decode(value)
        except msgspec.DecodeError:
            return name
    return None


@contextmanager
def _about_the_text() -> Iterator[None]:
    """Turn an InstanceError into a Problem about the member `text` or its field."""
    try:
        yield
    except InstanceError as error:
        raise invalid(str(error), *error.where) from error
