"""Expected losses that are fitted to rows, as a service fits them to the same events."""

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.taxonomy import Taxonomy
from manyclass.training import losses as fitted
from manyclass.training import trainer
from manyclass.training.losses import decoded
from manyclass.training.rows import Rows
from manyclass.training.trainer import Plan, train

OPTIONS = Options.parse("svm")


def taxonomy():
    tree = Taxonomy()
    for at in range(6):
        tree.place(f"c{at}", f"g{at // 2}")
    return tree


def labelled(rows=200):
    random = np.random.default_rng(5)
    for at in random.integers(6, size=rows).tolist():
        noise = {f"n{each}": 1.0 for each in random.integers(9, size=2).tolist()}
        yield {f"f{at}": 0.5, f"g{at // 2}": 1.0, **noise}, [f"c{at}"]


def sums(losses):
    return losses.dump()["expected_loss_sums"].tolist()


def test_rows_are_counted_as_events_are(monkeypatch):
    monkeypatch.setattr(trainer, "COUNTED_AT_ONCE", 1)
    tree = taxonomy()
    enrolled = Enrolled.begun("served", make(OPTIONS, taxonomy=tree))
    for features, classes in labelled():
        enrolled.apply(Event.learn(Instance(features), classes))
    rows = Rows.of(labelled())
    training = train(rows, OPTIONS, Plan(shuffle=False), taxonomy=taxonomy())
    assert sums(training.losses) == sums(enrolled.expected_loss)
    columns = Columns(rows.features), Columns(rows.classes)
    ranking = decoded(training.losses, training.learner, rows, *columns)
    for row, (features, _) in enumerate(labelled()):
        served = [name for name, *_ in enrolled.decode(Instance(features), 6, None).ranked]
        assert [rows.classes[at] for at in ranking[row] if at >= 0] == served


def test_many_are_counted_before_any_is_learned():
    rows = Rows.of(labelled())
    training = train(rows, OPTIONS, Plan(shuffle=False), taxonomy=taxonomy())
    assert sums(training.losses)
    assert training.losses.temperature < 1


def test_after_several_passes_only_new_rows_are_counted(monkeypatch):
    counted = []
    count = fitted.count_losses
    monkeypatch.setattr(
        trainer, "count_losses", lambda *given: (counted.append(len(given[2])), count(*given))
    )
    plan = Plan(passes=3, calibration_rows=10, oversample=50)
    train(Rows.of(labelled()), OPTIONS, plan, taxonomy=taxonomy())
    assert sum(counted) == 200  # 190 in the first pass, each once, and 10 kept back


def test_without_a_taxonomy_nothing_is_counted():
    assert train(Rows.of(labelled()), OPTIONS, Plan()).losses.dump() == {}


@pytest.mark.parametrize("learner", ["ff", "oplt", "committee(members=svm+ff)"])
def test_counting_does_not_change_the_learner(learner):
    rows, options = Rows.of(labelled()), Options.parse(learner)
    with_losses = train(rows, options, Plan(passes=2), taxonomy=taxonomy()).learner.dump()
    without = train(rows, options, Plan(passes=2)).learner.dump()
    assert with_losses.keys() == without.keys()
    for name, array in with_losses.items():
        assert array.tobytes() == without[name].tobytes()
