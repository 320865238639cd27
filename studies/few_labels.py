"""Few labels: words, titles of classes and vectors, with 0 to all labels a class.

A model learns the first labels of each class of a random order, once, as a service does: each event
by `Model.apply`. Then it ranks the published test rows. `titles` are the names of the classes in
words, beside words; beside vectors, they are the vectors of these names; `all` has both. `permuted`
vectors are those of other rows, and tell nothing. The others learn the same vectors with the same
labels: the nearest mean by cosine, logistic regression and LDA of scikit-learn.

Further measures: AUROC of texts of no class against test rows; taking back; classes that are
described late. reuters has several classes an instance; its vectors are words, projected at random.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from time import thread_time
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from manyclass.core.event import Event
from manyclass.core.evidence import SUMS
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model import Model
from manyclass.evaluation.cost import timed
from manyclass.evaluation.datasets import Dataset
from studies import embedded
from studies.declaration import Pivot, Record, Study, Trial, trials
from studies.embedded import PROJECTED, Embedded, Positions
from studies.peers.dense import DENSE

Given = TypeVar("Given")

ALL: Final = 1_000_000_000
LABELS: Final = {"0": 0, "1": 1, "2": 2, "5": 5, "10": 10, "20": 20, "all": ALL}  # of a class
UNEVEN: Final = "1 to 20"  # each class has a number of UNEVEN_COUNTS
UNEVEN_COUNTS: Final = (1, 2, 5, 20)
SEVERAL: Final = ("5", "20", "all")  # labels a class of the costlier measures
TIMED: Final = 500  # instances ranked one by one
ROUNDS: Final = 3
ORDERS: Final = 3
WIDE: Final = "minilm of 1,024 numbers"

LATE_CLASSES: Final = 15
LATE_AFTER: Final = 3_000  # events
FIRST_FEW: Final = 5  # instances of a late class
ERASED: Final = 100


@dataclass(frozen=True)
class System:
    """The parts that a model ranks by, and the labels a class that it is measured with."""

    words: bool = True
    vectors: str = ""  # of which model
    titles: bool = False
    permuted: bool = False
    labels: Sequence[str] = (*LABELS, UNEVEN)

    def instances(self, data: Embedded, rows: Positions) -> list[Instance]:
        """Return what the system sees of these rows."""
        found = data.instances(rows, self.vectors, self.words)
        if not self.permuted:
            return found
        order = np.random.default_rng(len(rows)).permutation(len(rows))
        pairs = zip(found, order, strict=True)
        return [each.with_vector_of(found[other]) for each, other in pairs]


SYSTEMS: Final = {
    "words": System(),
    "words + titles": System(titles=True),
    "minilm": System(words=False, vectors="minilm"),
    "minilm + titles": System(words=False, vectors="minilm", titles=True),
    "words + minilm": System(vectors="minilm"),
    "all": System(vectors="minilm", titles=True),
    "static64": System(words=False, vectors="static64"),
    "words + static64": System(vectors="static64"),
    "words + permuted minilm": System(vectors="minilm", permuted=True, labels=SEVERAL),
}
WITH_OUTSIDE: Final = ("words", "words + minilm", "all")
MEASURES_OF_OUTSIDE: Final = (
    *("AUROC of the first score", "AUROC of first - second", "AUROC of confidence"),
)
PEERS: Final = {
    f"{peer}, {model}": (peer, model) for model in ("minilm", "static64") for peer in DENSE
}
LATE: Final = {
    f"late classes: {name}": name for name in ("words", "words + titles", "words + minilm", "all")
}
ERASE: Final = "taking back"
PROJECTIONS: Final = {
    "words": System(labels=SEVERAL),
    PROJECTED: System(words=False, vectors=PROJECTED, labels=SEVERAL),
    f"words + {PROJECTED}": System(vectors=PROJECTED, labels=SEVERAL),
}
WIDE_SYSTEM: Final = System(vectors=WIDE, labels=("20",))

# --- rows -----------------------------------------------------------------------------------------


def first_rows(data: Embedded, labels: str, seed: int) -> Positions:
    """Return the first training rows of each class in a random order."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(data.published or 0)
    number = len(data.rows.classes)
    most = (
        draw.choice(UNEVEN_COUNTS, number) if labels == UNEVEN else np.full(number, LABELS[labels])
    )
    seen = np.zeros(number, np.int64)
    chosen = []
    for row in order:
        of_row = classes_of(data, row)
        if (seen[of_row] < most[of_row]).any():
            seen[of_row] += 1
            chosen.append(row)
    return np.array(chosen, np.int64)


def classes_of(data: Embedded, row: int) -> NDArray[np.int32]:
    """Return the columns of the classes of a row."""
    rows = data.rows
    return rows.class_indices[rows.class_indptr[row] : rows.class_indptr[row + 1]]


def names_of(data: Embedded, row: int) -> list[str]:
    """Return the classes of a row."""
    return [data.rows.classes[column] for column in classes_of(data, row)]


def test_rows(data: Embedded) -> Positions:
    """Return the published test rows."""
    return np.arange(data.published or 0, len(data.rows))


# --- models ---------------------------------------------------------------------------------------


def describe(model: Model, data: Embedded, system: System, names: Sequence[str]) -> None:
    """Give classes their titles: words, vectors, or both."""
    for name in names:
        changes: dict[str, object] = {}
        if system.words:
            changes["title"] = data.titles[name]
        if system.vectors:
            changes["vector"] = data.of_titles[system.vectors][name]
        model.apply(model.seq + 1, Event.describe(name, changes))


def learn(model: Model, instances: Sequence[Instance], classes: Sequence[list[str]]) -> None:
    """Let a model learn instances one by one."""
    for instance, names in zip(instances, classes, strict=True):
        model.apply(model.seq + 1, Event.learn(instance, names))


def taught(data: Embedded, system: System, rows: Positions) -> tuple[Model, float]:
    """Return a model that has learned these rows, and the CPU seconds of learning."""
    model = Model(Options.parse(DEFAULT_LEARNER))
    if system.titles:
        describe(model, data, system, sorted(data.rows.classes))
    instances, classes = system.instances(data, rows), [names_of(data, row) for row in rows]
    _, seconds = timed(lambda: learn(model, instances, classes))
    return model, seconds


def share_right(found: Sequence[str], data: Embedded, rows: Positions) -> float:
    """Return the share of the rows that have their class."""
    pairs = zip(found, rows, strict=True)
    return float(np.mean([name in names_of(data, row) for name, row in pairs]))


def firsts(model: Model, instances: Sequence[Instance]) -> list[str]:
    """Return the best class of each instance, or an empty string."""
    return [next((name for name, _ in model.rank(each, 1)), "") for each in instances]


# --- measures -------------------------------------------------------------------------------------


def measured(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the measures of a system or a peer, or one of the further measures."""
    assert isinstance(data, Embedded)
    if name in LATE:
        yield from described_late(data, SYSTEMS[LATE[name]], seed)
    elif name == ERASE:
        yield taken_back(data, seed)
    elif name in PEERS:
        yield from of_peer(data, *PEERS[name], seed)
    elif name == WIDE:
        yield from of_system(widened(data), WIDE_SYSTEM, seed, outside=False)
    else:
        of_data = PROJECTIONS if data.name == "reuters" else SYSTEMS
        yield from of_system(data, of_data[name], seed, name in WITH_OUTSIDE)


def of_system(data: Embedded, system: System, seed: int, outside: bool) -> Iterator[Record]:
    """Yield R1, and with `outside` AUROC, by the number of labels; with all labels also costs."""
    rows = test_rows(data)
    tests = system.instances(data, rows)
    for labels in system.labels:
        model, seconds = taught(data, system, first_rows(data, labels, seed))
        record: Record = {"labels": labels, "R1": share_right(firsts(model, tests), data, rows)}
        if labels == ("all" if "all" in system.labels else system.labels[-1]):
            record |= {
                "T s": seconds,
                "rank µs": microseconds(model.rank, tests),
                "bytes": bytes_of(model),
            }
        if outside and data.outside and labels in SEVERAL:
            record |= of_outside(model, tests, data.outsiders(system.vectors, system.words))
        yield record


def bytes_of(model: Model) -> int:
    """Return the bytes of the sections of a model's state."""
    return sum(chunk.nbytes for chunk in model.dump())


def microseconds(work: Callable[[Given], object], given: Sequence[Given]) -> float:
    """Return the CPU time of one call, the median of some rounds."""
    times = []
    for _ in range(ROUNDS):
        begin = thread_time()
        for each in given[:TIMED]:
            work(each)
        times.append(1e6 * (thread_time() - begin) / min(len(given), TIMED))
    return median(times)


def of_outside(
    model: Model, inside: Sequence[Instance], outside: Sequence[Instance]
) -> Iterator[tuple[str, float]]:
    """Return how well three measures of a ranking tell instances of no class from others."""
    found = [[height_gap_confidence(model, each) for each in part] for part in (inside, outside)]
    within, beyond = (np.array(part) for part in found)
    return iter(
        [(name, auroc(within[:, at], beyond[:, at])) for at, name in enumerate(MEASURES_OF_OUTSIDE)]
    )


def height_gap_confidence(model: Model, instance: Instance) -> tuple[float, float, float]:
    """Return the best score, its lead, and the confidence in the best class."""
    answer = model.answer(instance, 2)
    if not answer.ranked:
        return 0.0, 0.0, 0.0
    first = answer.ranked[0][1]
    lead = first - answer.ranked[1][1] if len(answer.ranked) > 1 else first
    return first, lead, answer.confidence or 0.0


def auroc(higher: NDArray[np.floating], lower: NDArray[np.floating]) -> float:
    """Return the probability that a number of the first exceeds one of the second; ties half."""
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")
    return float(below.mean() / 2 / len(lower))


def of_peer(data: Embedded, peer: str, model: str, seed: int) -> Iterator[Record]:
    """Yield the measures of a classifier of vectors."""
    matrix = data.vectors[model] / np.linalg.norm(data.vectors[model], axis=1, keepdims=True)
    rows = test_rows(data)
    for labels in (*LABELS, UNEVEN):
        if labels == "0" or (
            peer.startswith("LDA") and labels == "1"
        ):  # it needs two of some class
            continue
        learned = first_rows(data, labels, seed)
        classifier = DENSE[peer]()
        columns = np.array([classes_of(data, row)[0] for row in learned], np.int32)
        _, seconds = timed(partial(classifier.fit, matrix[learned], columns))
        scores = classifier.scores(matrix[rows])
        found = [data.rows.classes[column] for column in classifier.classes[scores.argmax(1)]]
        record: Record = {"labels": labels, "R1": share_right(found, data, rows)}
        if labels == "all":
            one_by_one = [matrix[row : row + 1] for row in rows[:TIMED]]
            record |= {
                "T s": seconds,
                "rank µs": microseconds(classifier.scores, one_by_one),
                "bytes": classifier.bytes(),
            }
        if model in data.of_outside and labels in SEVERAL:
            beyond = classifier.scores(data.of_outside[model])
            record[MEASURES_OF_OUTSIDE[0]] = auroc(scores.max(1), beyond.max(1))
        yield record


def widened(data: Embedded, numbers: int = 1_024) -> Embedded:
    """Return the set with vectors of more numbers: those of minilm, projected at random."""
    matrix = data.vectors["minilm"]
    directions = np.random.default_rng(numbers).normal(size=(matrix.shape[1], numbers))
    return replace(data, vectors={WIDE: (matrix @ directions).astype(np.float32)})


def described_late(data: Embedded, system: System, seed: int) -> Iterator[Record]:
    """Yield R1 of the first instances of classes that begin late, before each is learned.

    Without titles they are not described at all.
    """
    draw = np.random.default_rng(seed)
    names = sorted(data.rows.classes)
    late = {names[at] for at in draw.choice(len(names), LATE_CLASSES, replace=False)}
    order = draw.permutation(data.published or 0)
    is_late = np.array([names_of(data, row)[0] in late for row in order])
    before = order[~is_late][:LATE_AFTER]
    after = order[~np.isin(order, before)]
    model = Model(Options.parse(DEFAULT_LEARNER))
    if system.titles:
        describe(model, data, system, [name for name in names if name not in late])
    learn(model, system.instances(data, before), [names_of(data, row) for row in before])
    if system.titles:
        describe(model, data, system, sorted(late))
    seen = dict.fromkeys(late, 0)
    right: list[list[bool]] = [[], []]
    for row, instance in zip(after, system.instances(data, after), strict=True):
        true = names_of(data, row)
        if true[0] in late and seen[true[0]] < FIRST_FEW:
            ranked = [name for name, _ in model.rank(instance, 1)]
            right[seen[true[0]] > 0].append(ranked == true)
            seen[true[0]] += 1
        learn(model, [instance], [true])
        if min(seen.values()) == FIRST_FEW:
            break
    yield {
        "first instance": float(np.mean(right[0])),
        f"instances 2 to {FIRST_FEW}": float(np.mean(right[1])),
    }


def taken_back(data: Embedded, seed: int) -> Record:
    """Return whether sums depend on the order or on what was taken back, and the time of it."""
    system = SYSTEMS["words + minilm"]
    draw = np.random.default_rng(seed)
    order = draw.permutation(data.published or 0)
    gone = int(draw.integers(len(order)))
    model, _ = taught(data, system, order)
    other, _ = taught(data, system, draw.permutation(order))
    never, _ = taught(data, system, np.delete(order, gone))
    in_two_orders = sums(model) == sums(other)
    times = []
    chosen = [gone, *draw.choice(len(order), ERASED, replace=False)]
    equal = False
    for at in dict.fromkeys(map(int, chosen)):
        row = order[at : at + 1]
        [instance], names = system.instances(data, row), names_of(data, row[0])
        event = Event.amend(at + 1, instance, [], names)
        begin = thread_time()
        model.apply(model.seq + 1, event)
        times.append(1e3 * (thread_time() - begin))
        equal = equal or sums(model) == sums(never)  # after the first
    return {
        "equal in two orders": float(in_two_orders),
        "equal to never learned": float(equal),
        "ms of one": median(times),
        "ms of the slowest": max(times),
    }


def sums(model: Model) -> dict[str, bytes]:
    """Return the sums of vectors, without the numbers of events."""
    arrays = model.evidence.dump()
    found = {name: arrays[name].tobytes() for name in SUMS}
    found["vector_class_counts"] = arrays["vector_class_counts"][::3].tobytes()
    return found


# --- the study ------------------------------------------------------------------------------------


def whole(data: Dataset, rows: int | None) -> Dataset:
    """Return the data set; at most so many random training rows, if `rows` is given."""
    assert isinstance(data, Embedded)
    if rows is None or rows >= (data.published or 0):
        return data
    some = np.random.default_rng(0).permutation(data.published or 0)[:rows]
    kept = np.concatenate([some, test_rows(data)])
    vectors = {model: matrix[kept] for model, matrix in data.vectors.items()}
    return replace(data, rows=data.rows.take(kept), published=rows, vectors=vectors)


STUDY: Final = Study(
    "Few labels: words, titles and vectors",
    [
        *trials(("clinc", "banking"), [*SYSTEMS, *PEERS], ORDERS),
        Trial("clinc", WIDE),
        Trial("clinc", ERASE),
        *trials(("clinc",), LATE, ORDERS),
        *trials(("reuters",), PROJECTIONS, ORDERS),
    ],
    measured,
    [
        Pivot("R1 by labels a class", ["R1"], across="labels"),
        *(
            Pivot(f"{measure}, texts of no class, by labels a class", [measure], across="labels")
            for measure in MEASURES_OF_OUTSIDE
        ),
        Pivot(
            "costs with all labels (vectors of 1,024 numbers: 20 a class)",
            ["T s", "rank µs", "bytes"],
            digits=1,
        ),
        Pivot(
            "sums of vectors",
            [
                *("equal in two orders", "equal to never learned"),
                *("ms of one", "ms of the slowest"),
            ],
        ),
        Pivot("classes that begin late", ["first instance", f"instances 2 to {FIRST_FEW}"]),
    ],
    prepare=whole,
    read=embedded.read,
)
