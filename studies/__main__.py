"""Run a study: `python -m studies NAME`; without a name, list the studies."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from manyclass.evaluation.readers import add_data_option
from studies import (
    advice,
    all_learners,
    calibration,
    default,
    drift,
    estimates,
    few_labels,
    few_shot,
    fit_online,
    hierarchy,
    klr,
    many_classes,
    neighbors,
    noise,
    operating_points,
    options_of_ff,
    paper,
    review,
    satimage,
    techniques,
    text,
    trees,
    weight_bounded,
    word_rules,
)
from studies.declaration import Bounds, Record, Study, Trial
from studies.isolation import Failed
from studies.runner import added, render, run, write
from studies.tables import tables

STUDIES: Final[dict[str, Study]] = {
    "paper": paper.STUDY,
    "options-of-ff": options_of_ff.STUDY,
    "estimates": estimates.STUDY,
    "word-rules": word_rules.STUDY,
    "techniques": techniques.STUDY,
    "all-learners": all_learners.STUDY,
    "drift": drift.STUDY,
    "drift-memory": drift.MEMORY,
    "default-choice": default.CHOICE,
    "default": default.STUDY,
    "calibration": calibration.STUDY,
    "calibration-drift": calibration.DRIFT,
    "calibration-upheaval": calibration.UPHEAVAL,
    "calibration-trained": calibration.TRAINED_STUDY,
    "calibration-real": calibration.REAL,
    "operating-points": operating_points.STUDY,
    "probabilities": operating_points.PROBABILITIES,
    "trees": trees.STUDY,
    "few-shot": few_shot.STUDY,
    "few-labels": few_labels.STUDY,
    "hierarchy": hierarchy.STUDY,
    "text-choice": text.CHOICE,
    "text": text.STUDY,
    "many-classes-choice": many_classes.CHOICE,
    "many-classes": many_classes.STUDY,
    "neighbors-choice": neighbors.CHOICE,
    "satimage": satimage.STUDY,
    "klr": klr.STUDY,
    "fit-online": fit_online.STUDY,
    "weight-bounded": weight_bounded.STUDY,
    "review": review.STUDY,
    "noise": noise.STUDY,
    "advice": advice.STUDY,
}


def parser() -> ArgumentParser:
    """Return the command line."""
    listed = "\n".join(f"  {name:<22}{study.about}" for name, study in STUDIES.items())
    made = ArgumentParser(
        prog="python -m studies",
        description="Run a study and print its tables.",
        epilog=f"studies:\n{listed}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    made.add_argument("name", choices=STUDIES, metavar="NAME", nargs="?")
    add_data_option(made)
    made.add_argument("--datasets", type=split, metavar="NAMES", help="only these, by commas")
    made.add_argument(
        "--estimator",
        action="append",
        metavar="NAME",
        help="a learner or peer instead of the declared ones; again for more",
    )
    made.add_argument("--rows", type=int, help="most training rows of a data set")
    made.add_argument(
        "--evaluations", type=int, help="evaluations of each stage of a search, at most"
    )
    made.add_argument("--search-rows", type=int, help="rows of a search for parameters")
    made.add_argument(
        "--states",
        type=Path,
        metavar="FOLDER",
        help="keep the states of searches there; the same command goes on after a stop",
    )
    made.add_argument("--splits", type=int, help="splits of every trial")
    made.add_argument("--passes", type=int, help="most passes of every trial")
    made.add_argument("--seed", type=int, default=0, help="of the first split")
    made.add_argument(
        "--limit", type=int, default=3600, help="CPU seconds of a trial (default: %(default)s)"
    )
    made.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    made.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write NAME.json, NAME.md and figures there"
    )
    made.add_argument(
        "--add", action="store_true", help="keep what NAME.json in --out has of other estimators"
    )
    made.add_argument("--note", default="", help="a line for NAME.md: what was left out, and why")
    made.add_argument(
        "--render", action="store_true", help="write tables and figures of NAME.json in --out anew"
    )
    return made


def split(names: str) -> list[str]:
    """Return the names between commas."""
    return [name.strip() for name in names.split(",")]


def narrowed(study: Study, given: Namespace) -> Study:
    """Return the study with the data sets, estimators and sizes of the command line."""
    known = list(dict.fromkeys(trial.dataset for trial in study.trials))
    names = given.datasets or known
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"not in this study: {', '.join(unknown)}; it has {', '.join(known)}")
    chosen = [trial for trial in study.trials if trial.dataset in names]
    if given.estimator:
        firsts = [next(trial for trial in chosen if trial.dataset == name) for name in names]
        chosen = [
            replace(first, estimator=each, tags={}) for first in firsts for each in given.estimator
        ]
    bounds = Bounds(given.evaluations, given.search_rows, given.states)
    if bounds != Bounds() and study.bounded is None:
        raise SystemExit(
            "this study searches for no parameters: no --evaluations, --search-rows, --states"
        )
    return replace(
        study,
        measure=study.bounded(bounds) if study.bounded else study.measure,
        trials=[_sized(trial, given) for trial in chosen],
        rows=given.rows or study.rows,
    )


def _sized(trial: Trial, given: Namespace) -> Trial:
    passes = min(given.passes or trial.passes, trial.passes)
    return replace(trial, splits=given.splits or trial.splits, passes=passes)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study that the command line names."""
    given = parser().parse_args(arguments)
    if given.name is None:
        parser().print_help()
        return
    whole = STUDIES[given.name]
    study = narrowed(whole, given)
    if (given.render or given.add) and given.out is None:
        raise SystemExit("--render and --add need --out FOLDER, the folder of NAME.json")
    if given.render:
        if not (given.out / f"{given.name}.json").exists():
            raise SystemExit(
                f"{given.out} has no {given.name}.json: run the study with --out first"
            )
        render(given.out, given.name, study)
        return
    records = list[Record]()
    try:
        for records in run(study, given.data, given.seed, given.limit):
            if given.add:
                records = added(given.out, given.name, whole, records)
            if given.out is not None:
                write(given.out, given.name, records, given.note)
    except Failed as error:
        raise SystemExit(f"a learner failed: {error}") from error
    for table in tables(study, records):
        print((table.markdown() if given.markdown else table.text()) + "\n")
    if given.out is not None:
        render(given.out, given.name, study)


if __name__ == "__main__":
    main()
