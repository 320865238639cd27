from benchmarks.learning import TURN, apply_as_batch, apply_each, events_of, measure
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.training.rows import Rows

ROWS = Rows.of(([f"word {n % 7}", f"word {n % 5}"], [f"class {n % 3}"]) for n in range(2 * TURN))


def test_a_batch_learns_what_its_events_learn_one_by_one():
    each, batched = Model(Options.parse("svm")), Model(Options.parse("svm"))
    events = list(events_of(ROWS))

    apply_each(each, events)
    apply_as_batch(batched, events)

    assert each.seq == batched.seq == len(events)
    assert each.digest() == batched.digest()


def test_all_three_ways_are_measured():
    measured = measure(ROWS, ROWS, "svm")

    assert measured["labels"] == 1
    assert min(measured["rank µs"], measured["learn µs"], measured["batch µs"]) > 0
