"""Runs a study: each trial in a process of its own, its records kept after each data set."""

import json
import os
import platform
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from manyclass.evaluation.datasets import Dataset
from studies.declaration import Record, Study, Trial
from studies.held_out import ESTIMATORS
from studies.isolation import Failed, Stopped, apart
from studies.tables import figures, tables


def run(study: Study, data: Path, seed: int, limit: int) -> Iterator[list[Record]]:
    """Yield all records so far, after each data set.

    A trial that takes more than `limit` CPU seconds is recorded as failed, and so is a peer that
    raises. Raises Failed for an error of a learner, and DataMissing for a missing data set.
    """
    names = list(dict.fromkeys(trial.dataset for trial in study.trials))
    records = [each for each in study.printed if each["dataset"] in names]
    for name in names:
        dataset = study.prepare(study.read(name, data), study.rows)
        done = dict[tuple[str, int, int], list[Record]]()
        for trial in study.trials:
            if trial.dataset != name:
                continue
            for split in range(seed, seed + trial.splits):
                key = trial.estimator, trial.passes, split
                if key not in done:
                    _say(f"{name}: {trial.estimator}, split {split}")
                    done[key] = _measured(study, dataset, trial, split, limit)
                identity = {"dataset": name, "estimator": trial.estimator, "split": split}
                records += [{**identity, **trial.tags, **found} for found in done[key]]
        yield records


def _measured(study: Study, dataset: Dataset, trial: Trial, split: int, limit: int) -> list[Record]:
    name, passes = trial.estimator, trial.passes
    forgiven = Failed if name in ESTIMATORS else Stopped
    try:
        return apart(lambda: list(study.measure(dataset, name, passes, split)), limit)
    except forgiven as error:
        _say(f"{name}: {error}")
        return [{"failed": str(error)}]


def _say(progress: str) -> None:
    print(f"  {progress}", file=sys.stderr, flush=True)


def write(folder: Path, name: str, records: Sequence[Record], note: str = "") -> None:
    """Write the records of a study to NAME.json, with a note on how it was run."""
    about = {
        "command": shlex.join(["python", "-m", "studies", *sys.argv[1:]]),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python"
        f" {platform.python_version()}",
        "note": note,
    }
    folder.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in records)
    head = json.dumps(about, ensure_ascii=False).removesuffix("}")
    text = f'{head}, "records": [\n{lines}\n]}}\n'  # a record a line, for readable differences
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def added(folder: Path, name: str, study: Study, records: Sequence[Record]) -> list[Record]:
    """Return the records of NAME.json and these, in the order of the study's trials.

    New records replace those of the same estimator on the same data set.
    """
    path = folder / f"{name}.json"
    stored = json.loads(path.read_text(encoding="utf-8"))["records"] if path.exists() else []
    measured = {_trial_of(each) for each in records}
    merged = [each for each in stored if _trial_of(each) not in measured] + [*records]
    order = {(each.dataset, each.estimator): at for at, each in enumerate(study.trials)}
    return sorted(merged, key=lambda each: order.get(_trial_of(each), len(order)))


def _trial_of(record: Record) -> tuple[str, str]:
    return record["dataset"], record["estimator"]


def render(folder: Path, name: str, study: Study) -> None:
    """Write tables and figures of NAME.json to NAME.md and NAME-1.svg, NAME-2.svg, ..."""
    found = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    made = f"Measured by `{found['command']}` on {found['machine']}. {found['note']}"
    parts = [f"# {study.about}", made.rstrip()]
    for number, figure in enumerate(figures(study, found["records"]), 1):
        (folder / f"{name}-{number}.svg").write_text(figure.svg(), encoding="utf-8")
        parts.append(f"![{figure.title}]({name}-{number}.svg)")
    parts += [table.markdown() for table in tables(study, found["records"])]
    (folder / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
