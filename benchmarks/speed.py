"""Costs of the core on one thread: CPU time to rank and to learn, and memory.

Every figure stands beside a yardstick measured in the same run: a plain C++ loop of the same
bound (plain_loop.cpp), NumPy gathering, all at once, the very edges that the ranks touch (what
reading them costs without any ranking), and a plain ranker made of NumPy calls, an instance at a
time.
"""

import ctypes
import gc
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.learner import BoundLearner, names_of, rows_of
from benchmarks.plain_loop import PlainLoop
from benchmarks.process import own_process
from benchmarks.report import Cell, Figures, Report, add_json_option
from manyclass.core.learners.options import Options
from manyclass.evaluation import datasets, readers
from manyclass.training.rows import Rows

CHUNKS = 20
LOOP_ROUNDS = 5
SETS = {
    "words": Options.of("ff", margin_threshold=0, mass_cap=0, sublinear=False),
    "newsgroups": Options.of("ff", margin_threshold=0.5, mass_cap=0, sublinear=False),
}
TRAINING_SHARE = 0.9
CLASS_COUNTS = [1_000, 10_000, 100_000, 1_000_000]
ACTIVE, OUTDEGREE = 12, 9  # of the words' instances and features, about
MILLION = 1_000_000


def cpu_microseconds(call: Callable[[Rows], object], chunks: list[Rows]) -> float:
    """Return the median over the chunks of CPU time per row."""
    times = []
    for chunk in chunks:
        begin = process_time()
        call(chunk)
        times.append((process_time() - begin) / len(chunk) * 1e6)
    return median(times)


def chunks_of(rows: Rows) -> list[Rows]:
    return [rows.take(part) for part in np.array_split(np.arange(len(rows)), CHUNKS)]


# --- rank and learn -----------------------------------------------------------------------------


def measure_set(rows: Rows, options: Options) -> Figures:
    """Return the costs of ranking and learning the last tenth of the rows."""
    training, held_out = rows.shuffled(0).split(TRAINING_SHARE)
    bound = BoundLearner(rows, options)
    whole_pass = cpu_microseconds(bound.learn, [training])
    chunks = chunks_of(held_out)
    bound.rank(held_out)  # the columns' ids are looked up once
    before = bound.learner.edges_touched
    rank = min(cpu_microseconds(bound.rank, chunks) for _ in range(3))
    touched = (bound.learner.edges_touched - before) / 3 / len(held_out)
    gather, plain = yardsticks(bound, held_out)
    learn = cpu_microseconds(bound.learn, chunks)
    return {
        "active": len(held_out.indices) / len(held_out),
        "edges touched": touched,
        "rank µs": rank,
        "learn µs": learn,
        "learn / rank": learn / rank,
        "whole pass µs": whole_pass,
        "gather µs": gather,
        "rank / gather": rank / gather,
        "NumPy rank µs": plain,
        "NumPy / rank": plain / rank,
    }


def measure_loop(rows: Rows, options: Options) -> Figures:
    """Return the costs of ranking and learning, of the engine and of a plain C++ loop, in turns."""
    training, held_out = rows.shuffled(0).split(TRAINING_SHARE)
    bound, loop = BoundLearner(rows, options), PlainLoop(rows, options)
    pass_of_engine = cpu_microseconds(bound.learn, [training])
    pass_of_loop = cpu_microseconds(loop.learn, [training])
    best = bound.rank(held_out)[0][:, 0]
    ids = bound.learner.class_ids(bound.classes)
    loops = loop.rank(held_out)
    same = np.where(loops < 0, -1, ids[loops]) == best
    chunks = chunks_of(held_out)
    ranks = [
        (cpu_microseconds(bound.rank, chunks), cpu_microseconds(loop.rank, chunks))
        for _ in range(LOOP_ROUNDS)
    ]
    rank, rank_of_loop = (median(each) for each in zip(*ranks, strict=True))
    return {
        "same best": float(same.mean()),
        "rank µs": rank,
        "loop's rank µs": rank_of_loop,
        "rank, x as fast": median(loops / engine for engine, loops in ranks),
        "pass µs": pass_of_engine,
        "loop's pass µs": pass_of_loop,
        "pass, x as fast": pass_of_loop / pass_of_engine,
    }


def yardsticks(bound: BoundLearner, rows: Rows) -> tuple[float, float]:
    """Return CPU microseconds an instance: to gather its edges, and to rank it with NumPy."""
    state = bound.learner.dump()
    sizes_of_rows = state["outdegrees"].astype(np.int64)
    outdegrees = np.minimum(sizes_of_rows, bound.learner.options.max_outdegree)
    starts = np.cumsum(sizes_of_rows) - sizes_of_rows
    weights = state["edge_masses"] / np.repeat(state["feature_mass"], sizes_of_rows)
    classes = state["edge_classes"].astype(np.int64)
    class_count = len(state["class_born"])
    feature_ids = ids_of_columns(state, rows.features)

    def edges_of(row: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the positions of an instance's edges, and the value of each active feature."""
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        features, values = feature_ids[rows.indices[part]], rows.values[part].astype(float)
        known = features >= 0
        features = features[known]
        values = values[known] / np.sqrt((values**2).sum())
        sizes = outdegrees[features]
        ends = np.cumsum(sizes)
        positions = np.arange(sizes.sum())
        positions += np.repeat(starts[features] - (ends - sizes), sizes)
        return positions, np.repeat(values, sizes)

    sample = range(min(len(rows), 2000))
    touched = [edges_of(row) for row in sample]
    positions = np.concatenate([positions for positions, _ in touched])
    begin = process_time()
    weights[positions].sum()
    classes[positions].sum()
    gather = (process_time() - begin) / len(sample) * 1e6

    begin = process_time()
    for positions, values in touched:
        scores = np.bincount(classes[positions], weights[positions] * values, minlength=class_count)
        best = np.argpartition(scores, -min(5, class_count))[-5:]
        best[np.argsort(-scores[best])]
    plain = (process_time() - begin) / len(sample) * 1e6
    return gather, plain


def ids_of_columns(
    state: dict[str, NDArray[np.generic]], names_of_columns: list[str]
) -> NDArray[np.int64]:
    """Return the feature id of each column, -1 for an unknown feature."""
    names = state["feature_names"].tobytes()
    ends = np.cumsum(state["feature_name_sizes"], dtype=np.int64).tolist()
    begins = [0, *ends[:-1]]
    ids = {names[begin:end]: id for id, (begin, end) in enumerate(zip(begins, ends, strict=True))}
    return np.array([ids.get(name.encode(), -1) for name in names_of_columns])


# --- does the number of classes matter? --------------------------------------------------------


def measure_classes(class_count: int) -> Figures:
    """Return the cost of ranking with so many classes, at equal features and edges touched."""
    random = np.random.default_rng(0)
    features = -(-MILLION // OUTDEGREE)
    edges = features * OUTDEGREE
    numbers = random.permutation(class_count)[np.arange(edges) % class_count]
    order = random.permutation(edges)
    names, classes = names_of("feature", features), names_of("class", class_count)
    examples = rows_of(names, (order // OUTDEGREE)[:, None], classes, numbers[order][:, None])
    weights = random.uniform(0.5, 1.5, edges).astype(np.float32)  # no two edges weigh the same
    examples = replace(examples, values=weights)
    always = Options.of(
        "ff", normalize="none", rating=0, min_weight=0, margin_threshold=1e9, mass_cap=0
    )
    bound = BoundLearner(examples, always)
    bound.learn(examples)

    ranks = 50_000
    active = [random.choice(features, ACTIVE, replace=False) for _ in range(ranks)]
    instances = rows_of(names, np.array(active), classes, np.empty((ranks, 0), np.int32))
    bound.rank(instances)
    touched = bound.learner.edges_touched
    rank = min(cpu_microseconds(bound.rank, chunks_of(instances)) for _ in range(3))
    return {
        "classes": bound.learner.classes,
        "edges": bound.learner.edges,
        "edges touched": (bound.learner.edges_touched - touched) / 3 / ranks,
        "rank µs": rank,
    }


# --- memory -------------------------------------------------------------------------------------


def resident_set() -> int:
    """Return the resident bytes of this process, after a release of free memory."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measure_memory(mean_outdegree: int) -> Figures:
    """Return the memory of a learner of a million features with this mean outdegree."""
    random = np.random.default_rng(0)
    per_instance, class_count = 10, 1000
    outdegrees = random.integers(1, 2 * mean_outdegree, MILLION)
    names, classes = names_of("feature", MILLION), names_of("class", class_count)
    none = np.empty((0, 1), np.int32)
    always = Options.of("ff", rating=0, min_weight=0, margin_threshold=1e9, mass_cap=0)
    bound = BoundLearner(rows_of(names, none, classes, none), always)
    before = resident_set()
    for edge in range(outdegrees.max()):
        features = random.permutation(np.flatnonzero(outdegrees > edge))
        count = len(features) // per_instance
        active = features[: count * per_instance].reshape(count, per_instance)
        true = random.integers(0, class_count, (count, 1), dtype=np.int32)
        bound.learn(rows_of(names, active, classes, true))
        del active, true
        del features
    learner = bound.learner
    return {
        "features": learner.features,
        "edges": learner.edges,
        "name bytes": len("".join(names)) / MILLION,
        "counted MB": learner.bytes / 1e6,
        "arenas MB": learner.resident_bytes / 1e6,
        "process MB": (resident_set() - before) / 1e6,
    }


def per_edge_and_feature(few: Figures, many: Figures) -> list[dict[str, Cell]]:
    """Return the bytes of an edge and of a feature, from learners with few and many edges."""
    rows: list[dict[str, Cell]] = []
    for measure in ("counted MB", "arenas MB", "process MB"):
        edge = (many[measure] - few[measure]) * 1e6 / (many["edges"] - few["edges"])
        feature = (few[measure] * 1e6 - edge * few["edges"]) / few["features"]
        rows.append({"by": measure, "bytes an edge": edge, "bytes a feature": feature})
    return rows


def own(call: Callable[[int], Figures], argument: int) -> Figures:
    """Return the result of the call in a new process."""
    with own_process() as process:
        return process.submit(call, argument).result()


def main(options: Namespace) -> None:
    report = Report(options)
    rows: list[dict[str, Cell]] = []
    loops: list[dict[str, Cell]] = []
    for name, set_options in SETS.items():
        examples = datasets.read(name, options.data).rows
        rows.append({"set": name, **measure_set(examples, set_options)})
        loops.append({"set": name, **measure_loop(examples, set_options)})
    report.table("CPU time an instance, one thread, median", rows)
    report.table("The engine (k = 5) beside a plain C++ loop (the best class)", loops)

    by_classes = [own(measure_classes, count) for count in CLASS_COUNTS]
    for row in by_classes:
        row["against fewest"] = row["rank µs"] / by_classes[0]["rank µs"]
    report.table("Ranking against the number of classes", by_classes)

    few, many = (own(measure_memory, outdegree) for outdegree in (1, 10))
    report.table("Memory at a million features", [few, many])
    report.table("Memory, split (a feature includes its name)", per_edge_and_feature(few, many))
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    readers.add_data_option(parser)
    add_json_option(parser)
    main(parser.parse_args())
