import io
import json
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from manyclass.training.klr import fit as fit_module
from manyclass.training.klr import newton as newton_module
from manyclass.training.klr.decoding import Decoder
from manyclass.training.klr.fit import Course, FitError, Fitting, Plan, classes_with_rows
from manyclass.training.klr.memory import Size, TooLarge
from manyclass.training.klr.model import VERSION, Model, ModelFault, read_arrays, write_arrays
from manyclass.training.klr.search import search
from manyclass.training.klr.tree import tree_of
from manyclass.training.rows import Rows
from tests.training.klr.problems import CLASSES, parents


def labelled(count, seed=0):
    """Yield rows of words that tell the class, its family, and noise."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        name = CLASSES[random.integers(len(CLASSES))]
        words = {f"of {name}" for _ in range(1) if random.random() < 0.6}
        words |= {f"of {above}" for above in parents(name)}
        words |= {f"w{random.integers(30)}" for _ in range(4)}
        yield dict.fromkeys(sorted(words), 1.0), [name]


@pytest.fixture(scope="module")
def rows():
    return Rows.of(labelled(120))


def fitting(rows, sharing="H1", course=None, **plan):
    classes = classes_with_rows(rows)
    tree = tree_of(classes, parents, sharing)
    return Fitting(rows, classes, tree, Plan(folds=3, **plan), course)


@pytest.fixture(scope="module")
def whole_fit(rows):
    """Return a function that returns the fit of the rows, made once for each `search_rows`."""
    return cache(lambda search_rows=0: fitting(rows, search_rows=search_rows).run())


def stored(arrays):
    file = io.BytesIO()
    write_arrays(arrays, file)
    return io.BytesIO(file.getvalue())


def test_a_fit_predicts_other_rows(whole_fit):
    fitted = whole_fit()
    assert fitted.last.converged.all()
    assert fitted.search.best.unfinished == 0
    assert sorted(fitted.model.tree.groups) == ["classes", "level 1", "level 2"]
    tested = Rows.of(labelled(200, seed=1))
    p = np.concatenate([*fitted.model.probabilities(tested)])
    assert np.allclose(p.sum(1), 1, atol=1e-5)
    true = [fitted.model.classes.index(tested.classes[c]) for c in tested.class_indices]
    assert (p.argmax(1) == true).mean() > 0.6
    assert -np.log(p[np.arange(200), true]).mean() < np.log(len(CLASSES)) - 0.5


def test_probabilities_of_training_rows_are_those_of_the_fit(rows):
    fitted = fitting(rows, bias=0.5).run()
    p = np.concatenate([*fitted.model.probabilities(rows)])
    y = np.zeros_like(p)
    columns = [fitted.model.classes.index(rows.classes[c]) for c in rows.class_indices]
    y[np.arange(len(rows)), columns] = 1
    assert np.abs(fitted.model.alpha - (y - p)).max() < 0.02  # stationary, within the tolerance


def test_the_weights_of_nodes_give_the_scores(rows, whole_fit):
    model = whole_fit().model
    weights = dict(model.heaviest(1000))
    values = model.features.values(rows)
    scores = np.zeros((len(rows), model.tree.nodes))
    for feature, name in enumerate(model.features.names):
        for at in range(values.starts[feature], values.starts[feature + 1]):
            for node, weight in weights[name]:
                scores[values.rows[at], node] += values.values[at] * weight
    for node, parent in enumerate(model.tree.parents.tolist()):
        if parent >= 0:
            scores[:, node] += scores[:, parent]
    p = np.exp(scores[:, model.tree.leaves])
    p /= p.sum(1, keepdims=True)
    assert np.allclose(p, np.concatenate([*model.probabilities(rows)]), atol=1e-4)
    for _, pairs in model.heaviest(2):
        assert len(pairs) <= 2
        assert [abs(w) for _, w in pairs] == sorted((abs(w) for _, w in pairs), reverse=True)


class Stopped(Exception):
    pass


@pytest.mark.parametrize("search_rows", [0, 60])
@pytest.mark.parametrize("evaluations", [1, 2, 5])
def test_a_stopped_fit_goes_on_where_it_was(rows, whole_fit, evaluations, search_rows, monkeypatch):
    monkeypatch.setattr(fit_module, "SECONDS_BETWEEN_SAVES", 0)
    whole = whole_fit(search_rows)
    files = []

    def save(course):
        files.append(stored(course.arrays() | {"version": np.array(VERSION)}))
        if len(course.tied) + len(course.separate) == evaluations:
            raise Stopped

    with pytest.raises(Stopped):
        fitting(rows, search_rows=search_rows).run(save=save)
    course = Course.of_arrays(read_arrays(files[-1]))
    resumed = fitting(rows, course=course, search_rows=search_rows).run()
    assert resumed.search.best.psi == whole.search.best.psi
    assert (resumed.search.best.logs == whole.search.best.logs).all()
    assert (resumed.model.alpha == whole.model.alpha).all()


@pytest.mark.parametrize("search_rows", [0, 60])
def test_the_last_fit_is_resumed_too(rows, whole_fit, search_rows, monkeypatch):
    monkeypatch.setattr(fit_module, "SECONDS_BETWEEN_SAVES", 0)
    whole = whole_fit(search_rows)
    files = []

    def save(course):
        if course.last is not None:
            files.append(stored(course.arrays() | {"version": np.array(VERSION)}))
            raise Stopped

    with pytest.raises(Stopped):
        fitting(rows, search_rows=search_rows).run(save=save)
    stages = set()
    course = Course.of_arrays(read_arrays(files[-1]))
    resumed = fitting(rows, course=course, search_rows=search_rows).run(
        lambda progress: stages.add(progress.stage)
    )
    assert stages == {"all rows"}
    assert np.abs(resumed.model.alpha - whole.model.alpha).max() < 0.01


def test_a_fit_of_all_rows_that_was_stopped_makes_the_steps_that_were_left(rows, monkeypatch):
    monkeypatch.setattr(fit_module, "SECONDS_BETWEEN_SAVES", 0)
    monkeypatch.setattr(newton_module, "START_VARIANCE", 0.01)  # so that it grows some times
    steps, growths, files = [], set(), []

    def on_progress(progress):
        if progress.stage == "all rows":
            steps.append(progress.step)

    def save(course):
        if course.last is not None:
            growths.add(course.growths)
            files.append(stored(course.arrays() | {"version": np.array(VERSION)}))

    whole = fitting(rows, search_rows=60).run(on_progress, save)
    assert growths > {0, 1, 2}
    made = len(steps)
    for stop in (1, 4, 7):
        steps.clear()
        course = Course.of_arrays(read_arrays(files[stop - 1]))
        resumed = fitting(rows, course=course, search_rows=60).run(on_progress)
        assert len(steps) <= made - stop + 1  # one more if the stage was at its end
        assert np.abs(resumed.model.alpha - whole.model.alpha).max() < 1e-3


def test_a_search_of_part_of_the_rows_is_that_of_these_rows_alone(rows):
    part = fitting(rows, search_rows=60, tfidf=False).run()
    assert part.searched == 60
    assert len(part.model.outcomes.right) == 60
    chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:60])
    classes = classes_with_rows(rows)
    plan = Plan(folds=3, tfidf=False)
    alone = Fitting(rows.take(chosen), classes, tree_of(classes, parents, "H1"), plan).run()
    assert part.search.best.psi == pytest.approx(alone.search.best.psi, rel=1e-5)
    assert part.search.best.logs == pytest.approx(alone.search.best.logs, abs=1e-3)
    # The last fit is of all rows: alpha is y - p of each.
    p = np.concatenate([*part.model.probabilities(rows)])
    columns = [classes.index(rows.classes[column]) for column in rows.class_indices]
    y = np.zeros_like(p)
    y[np.arange(len(rows)), columns] = 1
    assert part.model.alpha.shape == y.shape
    assert np.abs(part.model.alpha - (y - p)).max() < 0.02


def test_a_search_of_as_many_rows_as_there_are_is_that_of_all(rows):
    for number in (len(rows), 10 * len(rows)):
        assert fitting(rows, search_rows=number).run().searched == len(rows)


def test_a_course_of_other_rows_is_refused(rows, whole_fit):
    course = whole_fit().course
    with pytest.raises(FitError, match="other rows"):
        fitting(Rows.of(labelled(90)), course=course)
    with pytest.raises(FitError, match="other options"):
        fitting(rows, course=course, seed=5)
    with pytest.raises(FitError, match="other options"):
        fitting(rows, course=course, search_rows=60)


def test_a_model_file_is_loaded_as_it_was(whole_fit):
    model = whole_fit().model
    loaded = Model.of_arrays(read_arrays(stored(model.arrays())))
    for name, array in model.arrays().items():
        assert (loaded.arrays()[name] == array).all(), name


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("alpha", np.zeros((3, 2), np.float32)),
        ("alpha", np.full((120, 6), np.nan, np.float32)),
        ("classes", np.frombuffer(b"{}", np.uint8)),
        ("version", np.array(99)),
        ("counts", None),
    ],
)
def test_other_files_are_refused(rows, name, array):
    arrays = fitting(rows, "F1", evaluations=1).run().model.arrays()
    arrays.pop(name)
    if array is not None:
        arrays[name] = array
    with pytest.raises(ModelFault):
        Model.of_arrays(read_arrays(stored(arrays)))
    with pytest.raises(ModelFault):
        read_arrays(io.BytesIO(b"PK\x03\x04 no archive"))


def test_too_much_memory_is_refused_before_the_work(rows):
    with pytest.raises(TooLarge, match=r"--max-bytes.*--classes-at-least.*--task"):
        fitting(rows, most_bytes=1000)


def test_faults_are_named(rows):
    with pytest.raises(FitError, match="two classes"):
        Fitting(rows, ["a"], tree_of(["a"], parents, "F1"), Plan())
    with pytest.raises(FitError, match="folds"):
        Fitting(rows, CLASSES, tree_of(CLASSES, parents, "F1"), Plan(folds=121))
    with pytest.raises(FitError, match="2 to 4 folds"):
        Fitting(rows, CLASSES, tree_of(CLASSES, parents, "F1"), Plan(search_rows=4))


PEAK = """
import json, resource, sys
import numpy as np
from manyclass.training.klr.fit import Fitting, Plan, classes_with_rows
from manyclass.training.klr.tree import flat_tree
from manyclass.training.rows import Rows

count, classes, search_rows = json.loads(sys.argv[1])
random = np.random.default_rng(0)
indices = np.sort(random.integers(0, 2000, (count, 4)), 1).astype(np.int32)
true = (indices[:, 0] % classes).astype(np.int32)
names = [f"c{c}" for c in range(classes)]
rows = Rows([f"f{f}" for f in range(2000)], np.arange(0, 4 * count + 1, 4), indices.ravel(),
    np.ones(4 * count, np.float32), names, np.arange(count + 1), true)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
fitting = Fitting(rows, names, flat_tree(names),
    Plan(folds=2, evaluations=1, search_rows=search_rows))
fitting.run()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([peak - before, fitting.size.bytes]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(200_000, 2, 0), (20_000, 60, 0), (20_000, 60, 2_000)])
def test_the_peak_of_memory_is_within_the_estimate(size):
    command = [sys.executable, "-c", PEAK, json.dumps(size)]
    done = subprocess.run(command, capture_output=True, check=True)
    taken, estimate = json.loads(done.stdout)
    assert taken <= estimate
    assert estimate <= 4 * max(taken, 64 * 2**20)


def test_the_estimate_grows_with_rows_and_classes():
    assert Size(45_000, 4_200, 5_000, 200_000, 10**7, 5).bytes > 8 * 2**30
    assert Size(14_000, 1_909, 3_195, 116_000, 554_000, 5).bytes < 2 * 2**30


def test_each_stage_of_a_search_has_so_many_evaluations_at_most(rows):
    course = fitting(rows, "H1", evaluations=2).run().course
    assert (len(course.tied), len(course.separate)) == (2, 2)


def test_the_search_stops_when_it_may_not_evaluate_more():
    evaluated = []

    def evaluate(logs):
        evaluated.append(logs.copy())
        return fit_module.Evaluation(logs.copy(), float((logs**2).sum()) + 1, 2 * logs, 0, 0)

    found = search(evaluate, np.array([3.0, -2.0]), 3)
    assert len(evaluated) == len(found.evaluations) == 3
    assert found.best.psi == min(each.psi for each in found.evaluations)


def test_the_decoder_lowers_the_expected_loss_of_a_model(rows, whole_fit):
    model = whole_fit().model
    p = np.concatenate([*model.probabilities(rows)]).astype(float)
    chosen = Decoder.of(model.classes, parents).least_taxo_loss(p)
    assert chosen.shape == (len(rows),)
