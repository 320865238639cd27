"""The time to read a vector from JSON, and its cost in requests, beside the same ones without.

Questions to a bank (banking77), each with a made vector near that of its class, in the three forms
that requests may have: a list of numbers, float32 and int8. The service has learned the questions
with their vectors. Rounds alternate between the forms; the figure is the CPU time of the server,
divided by that of the requests without vectors, as the median over the rounds.

And the CPU time of a model to learn the event after a deletion, for which the covariance of the
vectors is factored and all classes are weighed.
"""

import base64
import json
import os
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import median
from time import thread_time_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import load, serving
from benchmarks.process import ServerProcess, service_on_sqlite
from benchmarks.report import Cell, Report, over_rounds
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.evaluation import readers
from manyclass.service import samples

QUESTIONS = Path(str(files(samples))) / "banking77.jsonl.gz"
LIMIT = 1.5  # of /rank with int8 numbers, beside one without a vector
READ, ROUNDS = 200, 31  # vectors read, and how often
WITHOUT = Instance({})
SIZES = ((384, 100), (768, 100), (1024, 100), (1536, 100), (3072, 100))
SIZES += ((384, 20_000), (1024, 5_000), (3072, 1_000))  # numbers of a vector, and classes
MADE = 53  # different vectors
SENT = 1000  # different requests of a kind
BATCH = 50  # instances
SPREAD = 0.7  # of the vectors of a class, beside the distances of classes
KINDS = {"/rank": 30, f"/rank of {BATCH}": 4, "/learn": 32}  # connections

Vector = NDArray[np.float32]
Form = Callable[[Vector], object]


def _float32(vector: Vector) -> object:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _int8(vector: Vector) -> object:
    whole = np.rint(vector / np.abs(vector).max() * 127).astype(np.int8)
    return {"int8": base64.b64encode(whole.tobytes()).decode()}


FORMS: dict[str, Form | None] = {
    "without": None,
    "list": lambda vector: [round(float(each), 7) for each in vector],
    "float32": _float32,
    "int8": _int8,
}


def vectors_of(questions: Sequence[dict[str, Any]], dimension: int) -> list[Vector]:
    """Return a vector of length 1 for each question."""
    random = np.random.default_rng(0)
    centres = {
        name: random.normal(size=dimension) for each in questions for name in each["classes"]
    }
    made = []
    for each in questions:
        vector = centres[each["classes"][0]] + SPREAD * random.normal(size=dimension)
        made.append((vector / np.linalg.norm(vector)).astype(np.float32))
    return made


def reading_rows(vectors: Sequence[Vector]) -> list[dict[str, Cell]]:
    """Return the CPU time to read the value of `vector` in each form, the median of rounds."""
    rows = []
    for name, form in FORMS.items():
        if form is None:
            continue
        values = [serving.encoded(form(vector)) for vector in vectors[:READ]]
        rounds = []
        for _ in range(ROUNDS):
            begin = thread_time_ns()
            for value in values:
                WITHOUT.with_vector_of_json(value)
            rounds.append((thread_time_ns() - begin) / len(values))
        taken = median(rounds)
        rows.append({"": name, "µs": taken / 1e3, "ns a number": taken / len(vectors[0])})
    return rows


def learned_vectors(dimension: int, classes: int) -> Model:
    """Return a model of made vectors, three in two classes; the last event was deleted."""
    random = np.random.default_rng(0)
    made = [Instance({}, random.normal(size=dimension)) for _ in range(MADE)]
    model = Model(Options.of("svm"))
    for position in range(3 * classes // 2):
        event = Event.learn(made[position % MADE], [f"c{position % classes}"])
        model.apply(model.seq + 1, event)
    gone = Event.amend(model.seq, event.instance, [], event.classes)
    model.apply(model.seq + 1, gone)
    return model


def covariance_rows(sizes: Sequence[tuple[int, int]]) -> list[dict[str, Cell]]:
    """Return the CPU time of the event after a deletion, by the numbers of a vector and classes."""
    rows: list[dict[str, Cell]] = []
    for dimension, classes in sizes:
        model = learned_vectors(dimension, classes)
        event = Event.learn(Instance({}, np.arange(1.0, dimension + 1)), ["c0"])
        begin = thread_time_ns()
        model.apply(model.seq + 1, event)
        taken = thread_time_ns() - begin
        rows.append({"numbers": dimension, "classes": classes, "ms": taken / 1e6})
    return rows


def requests_of(
    kind: str, form: Form | None, questions: Sequence[dict[str, Any]], vectors: Sequence[Vector]
) -> list[bytes]:
    """Return the requests of a kind, with vectors of this form, or without."""
    instances = [
        {"text": each["text"]} | ({} if form is None else {"vector": form(vector)})
        for each, vector in zip(questions[:SENT], vectors, strict=False)
    ]
    if kind == "/learn":
        pairs = zip(questions, instances, strict=False)
        return [
            load.post(kind, serving.encoded(instance | {"classes": each["classes"]}))
            for each, instance in pairs
        ]
    if kind == "/rank":
        return [load.post(kind, serving.encoded(each)) for each in instances]
    parts = (instances[begin : begin + BATCH] for begin in range(0, SENT, BATCH))
    return [load.post("/rank", serving.encoded({"instances": part})) for part in parts]


def rows_of(
    server: ServerProcess,
    kind: str,
    questions: Sequence[dict[str, Any]],
    vectors: Sequence[Vector],
    rounds: int,
    seconds: float,
) -> list[dict[str, Cell]]:
    """Return the costs of requests of a kind with each form of vectors."""
    sent = {name: requests_of(kind, form, questions, vectors) for name, form in FORMS.items()}
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in FORMS}
    for _ in range(rounds):
        for name, requests in sent.items():
            figures = serving.one_round(server, requests, KINDS[kind], seconds)
            first = measured["without"][-1] if name != "without" else figures
            figures["x without"] = figures["CPU µs/request"] / first["CPU µs/request"]
            measured[name].append(figures)
    rows = []
    for name, figures_of_rounds in measured.items():
        figures = over_rounds(figures_of_rounds)
        bytes_sent = np.mean([len(each) for each in sent[name]])
        shown = ("CPU µs/request", "x without", "p50 ms", "failed")
        rows.append({"": name, "bytes": int(bytes_sent), **{each: figures[each] for each in shown}})
    return rows


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    serving.add_options(parser, seconds=1.0, rounds=9)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--folder", type=Path, help="where the service keeps its store meanwhile")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.load_core})
    report = Report(options)
    questions: list[dict[str, Any]] = [*readers.json_lines(QUESTIONS)]
    vectors = vectors_of(questions, options.dimension)
    report.table(f"Reading of {options.dimension} numbers", reading_rows(vectors))
    report.table("The event after a deletion", covariance_rows(SIZES))
    for workers in (0, 1):
        with service_on_sqlite(
            {options.server_core},
            options.folder,
            max_concurrent=serving.UNLIMITED,
            workers=workers,
        ) as server:
            taught = zip(questions, vectors, strict=True)
            serving.teach(server, [each | {"vector": _int8(vector)} for each, vector in taught])
            for kind in KINDS:
                how = options.rounds, options.seconds
                rows = rows_of(server, kind, questions, vectors, *how)
                report.table(f"{kind}, {options.dimension} numbers, {workers} workers", rows)
                if kind == "/rank":
                    of_int8 = float(next(each for each in rows if each[""] == "int8")["x without"])
                    report.limit(f"{kind} with int8 x without, {workers} workers", of_int8, LIMIT)
            counted = json.loads(server.request("GET", "/stats"))
            report.say(f"{counted['seq']:,} events were learned")
    report.close()


if __name__ == "__main__":
    main()
