"""The advisor on public data: what it finds, what it costs, and whether its figures are right.

The events of each set, in a random order, are those of a service with the default learner. The code
of the child process of `POST /advice` compares the candidates; then `manyclass evaluate
--progressive --no-shuffle` measures each of them on the same events. `differences` counts the
candidates whose R1, R5 (over all events) or bytes are not equal to those.

At most 20,000 events of each set, as `manyclass advise` takes; of the laws of eurlex 6,000. All
take ten CPU minutes, and as much again for `evaluate`.
"""

import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import msgspec

from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.text import DEFAULT_TEXT
from manyclass.evaluation import advising, datasets, readers
from manyclass.evaluation.advice import Advice
from manyclass.evaluation.advising import AdviceEvent, Found, Progress, Question
from manyclass.evaluation.cost import cpu_seconds
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.verdict import Verdict
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Record, Study, trials
from studies.samples import as_stream

TEXTS: Final = {
    "banking": "banking77",
    "clinc": "clinc150",
    "cpv": "cpv_it",
    "yso": "yso_finna_en",
    "reuters": "reuters21578",
    "newsgroups": "newsgroups",
    "eurlex": "eurlex57k",
}
NUMBERS: Final = ("bibtex", "delicious", "satimage")
WITH_TAXONOMY: Final = ("cpv", "eurlex")
MOST_EVENTS: Final = 20_000
EVENTS: Final = {"eurlex": 6_000}  # of 300 words each
SECONDS: Final = 24 * 3600.0  # all candidates are done
BYTES: Final = 1 << 40


@dataclass(frozen=True)
class TextSet(Dataset):
    """A set of texts; the only feature of each row is the position of its text."""

    texts: Sequence[str] = ()


def read(name: str, data: Path) -> Dataset:
    """Return the data set of numbers, or the rows of both published parts of a set of texts."""
    if name in NUMBERS:
        return datasets.read(name, data)
    change = readers.without_headers if name == "newsgroups" else str
    rows = [
        (change(row["text"]), list(dict.fromkeys(row["classes"])))
        for row in readers.json_lines(data / f"{TEXTS[name]}.jsonl.gz")
        if row["classes"] and row["split"] in ("train", "test")
    ]
    taxonomy = datasets.read(name, data).taxonomy if name in WITH_TAXONOMY else None
    numbered = Rows.of(({str(at): 1.0}, classes) for at, (_, classes) in enumerate(rows))
    return TextSet(name, numbered, taxonomy=taxonomy, texts=[text for text, _ in rows])


def prepared(data: Dataset, rows: int | None) -> Dataset:
    """Return the events to compare on, at random."""
    return as_stream(data, rows or EVENTS.get(data.name, MOST_EVENTS))


def advised(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the advice on each candidate beside the present learner, and then the verdict."""
    rows = data.rows.shuffled(seed)
    events = [_event(data, given, classes) for given, classes in rows]
    parents = {} if data.taxonomy is None else data.taxonomy.single_parents(rows.classes)
    began = cpu_seconds()
    found, ended = _answered(Options.parse(name), events, parents)
    seconds = cpu_seconds() - began
    measured = _evaluated(events, parents, found)
    differences = 0
    for advice, figures in zip(found, measured, strict=True):
        differences += figures != (advice.all_r1, advice.all_r5, advice.bytes)
        yield _record(advice, figures)
    yield {
        "verdict": ended.sentence,
        "CPU s": seconds,
        "events": len(events),
        "differences": differences,
    }


def _event(data: Dataset, given: Mapping[str, float], classes: list[str]) -> AdviceEvent:
    if not isinstance(data, TextSet):
        return AdviceEvent(classes, features=dict(given))
    return AdviceEvent(classes, text=data.texts[int(next(iter(given)))])


def _answered(
    primary: Options, events: Sequence[AdviceEvent], parents: dict[str, str]
) -> tuple[list[Advice], Verdict]:
    """Return the advice of the child process of a service on these events."""
    question = Question(primary.to_dict(), str(DEFAULT_TEXT), [], {}, SECONDS, BYTES)
    first, *others = reversed(events)
    first = msgspec.structs.replace(first, parents=parents)
    lines = b"\n".join(map(msgspec.json.encode, (question, first, *others)))
    out = io.BytesIO()
    advising.run(io.BytesIO(lines), out)
    decoder = msgspec.json.Decoder(Progress | Found | Verdict)
    messages = [decoder.decode(line) for line in out.getvalue().splitlines()]
    (ended,) = (each for each in messages if isinstance(each, Verdict))
    return [each.advice for each in messages if isinstance(each, Found)], ended


Figures = tuple[float, float, int]  # R1 and R5 over all events, bytes of the learner


def _evaluated(
    events: Sequence[AdviceEvent], parents: Mapping[str, str], advice: Sequence[Advice]
) -> list[Figures]:
    """Return the figures of `manyclass evaluate` for each candidate."""
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        file, tree, out = (folder / name for name in ("events.jsonl", "tree.json", "out.json"))
        kept = ({k: v for k, v in msgspec.to_builtins(each).items() if v} for each in events)
        file.write_text("".join(f"{json.dumps(each)}\n" for each in kept), encoding="utf-8")
        command = [sys.executable, "-m", "manyclass", "evaluate", str(file), "--json", str(out)]
        command += ["--progressive", "--no-shuffle"]
        if parents:
            tree.write_text(json.dumps({k: above or None for k, above in parents.items()}))
            command += ["--taxonomy", str(tree)]
        figures = list[Figures]()
        for text, group in groupby(advice, key=lambda each: each.text):
            learners = [part for each in group for part in ("--learner", each.learner)]
            ran = [*command, "--text", text, *learners]
            subprocess.run(ran, check=True, stdout=subprocess.DEVNULL)
            figures += map(_figures, json.loads(out.read_text())["sets"][0]["results"])
    return figures


def _figures(result: Mapping[str, Any]) -> Figures:
    stream = result["outcomes"][0]["stream"]
    return stream["overall"]["R1"], stream["overall"]["R5"], stream["bytes"]


def _record(advice: Advice, figures: Figures) -> Record:
    record: Record = {
        "candidate": f"{advice.learner}, {advice.text}",
        "R1": advice.r1,
        "R5": advice.r5,
        "R1 of all": advice.all_r1,
        "R1 by evaluate": figures[0],
        "R5 of all": advice.all_r5,
        "R5 by evaluate": figures[1],
        "learn µs": 1e6 * (advice.learn_seconds or 0),
        "rank µs": 1e6 * (advice.rank_seconds or 0),
        "bytes": advice.bytes,
    }
    if advice.r1_gain is not None and advice.r5_gain is not None:
        record |= {
            "points R1": 100 * advice.r1_gain.mean,
            "±": 100 * (advice.r1_gain.high - advice.r1_gain.mean),
            "points R5": 100 * advice.r5_gain.mean,
            "better": float(advice.advised) - float(advice.worse),
        }
    return record


STUDY: Final = Study(
    "The advice on learners, beside `manyclass evaluate`",
    trials((*TEXTS, *NUMBERS), [DEFAULT_LEARNER]),
    advised,
    [
        Pivot(
            "candidates",
            [
                *("R1", "points R1", "±", "R5", "points R5", "better"),
                *("R1 of all", "R1 by evaluate", "R5 of all", "R5 by evaluate"),
                *("learn µs", "rank µs", "bytes"),
            ],
            rows="candidate",
        ),
        Pivot("the verdict", ["events", "CPU s", "differences"], rows="verdict", digits=0),
    ],
    prepare=prepared,
    read=read,
)
