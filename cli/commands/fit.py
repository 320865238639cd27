"""manyclass fit, manyclass probabilities: kernel logistic regression, offline."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli import offline_fit
from manyclass.cli.input_options import Input, reads_labelled
from manyclass.cli.paths import path_of
from manyclass.cli.reading import TextOption, analysis_of
from manyclass.core.text import DEFAULT_TEXT
from manyclass.training.klr.fit import Plan
from manyclass.training.klr.memory import DEFAULT_MOST
from manyclass.training.klr.tree import SHARINGS

FilesArgument = Annotated[
    list[str],
    typer.Argument(
        help="Files, plain or compressed; - is standard input.",
        metavar="FILE...",
        show_default=False,
    ),
]


@reads_labelled
def fit(
    files: FilesArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            parser=path_of,
            help="A file for the model; before the end, it has the state for --resume.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    taxonomy: Annotated[
        str | None,
        typer.Option(
            "--taxonomy",
            help="A file with the parent of each class, in a form that `manyclass place` reads.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    codes: Annotated[
        bool,
        typer.Option(
            "--codes",
            help="Read the path of a class from its digits, as in CPV: 45233140-2 is below 452.",
        ),
    ] = False,
    kernel: Annotated[
        str,
        typer.Option(
            "--kernel",
            help="F1, F2: independent classes; H1, H2: classes share the weights of nodes above."
            " H1: a variance for each level; F2, H2: for each child of the root.",
        ),
    ] = "H1",
    task: Annotated[
        str | None,
        typer.Option("--task", help="Fit only the classes at or below this node.", metavar="NODE"),
    ] = None,
    classes_at_least: Annotated[
        int, typer.Option(min=1, help="Smallest number of rows of a class to fit.")
    ] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the fit whose state is in --out.")
    ] = False,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds in cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the folds.")] = 0,
    evaluations: Annotated[
        int, typer.Option(min=1, help="Largest number of evaluations in each stage of the search.")
    ] = 30,
    search_rows: Annotated[
        int,
        typer.Option(min=0, help="Number of rows in the search, drawn by --seed; 0: all."),
    ] = 0,
    bias: Annotated[
        float, typer.Option(min=0, help="Variance of a constant at each node; 0: no constant.")
    ] = 0.0,
    tfidf: Annotated[
        bool, typer.Option(help="Weight features by their rarity in the rows.")
    ] = True,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of threads; by default one for each core.", show_default=False
        ),
    ] = None,
    max_bytes: Annotated[
        int, typer.Option(min=0, help="Refuse a fit that would need more memory than this.")
    ] = DEFAULT_MOST,
    text: TextOption = str(DEFAULT_TEXT),
    *,
    input: Input,
) -> None:
    """Fit kernel logistic regression to the rows of files, with class probabilities.

    The variances are chosen by cross-validation. Needs SciPy: pip install 'manyclass[fit]'.
    """
    sharing = next((each for each in SHARINGS if each == kernel.upper()), None)
    if sharing is None:
        raise typer.BadParameter(f"one of {', '.join(SHARINGS)}", param_hint="--kernel")
    threads = threads or os.cpu_count() or 1
    plan = Plan(folds, seed, evaluations, bias, tfidf, threads, max_bytes, search_rows)
    scope = offline_fit.Scope(sharing, taxonomy, codes, task, classes_at_least)
    offline_fit.run(files, input, analysis_of(text), scope, plan, out, resume)


@reads_labelled
def probabilities(
    model: Annotated[
        Path, typer.Argument(parser=path_of, help="A file of `manyclass fit`.", metavar="MODEL")
    ],
    files: FilesArgument,
    top: Annotated[int, typer.Option(min=1, help="Number of classes to print for each row.")] = 5,
    *,
    input: Input,
) -> None:
    """Print the most likely classes of each row as JSON lines, by a model of `manyclass fit`."""
    for ranked in offline_fit.ranked(model, files, input, top):
        typer.echo(
            json.dumps(
                {"ranked": [{"class": name, "probability": round(p, 6)} for name, p in ranked]},
                ensure_ascii=False,
            )
        )
