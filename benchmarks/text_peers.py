"""Rankings of texts by other libraries, beside those of manyclass, in this process.

All are given the bodies of requests, and read the texts themselves: words and pairs of words, by
their own rules. Each learns the same texts in one thread, fastText in EPOCHS passes, the others in
one. Absent packages are said.
"""

import json
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import thread_time_ns
from typing import Any

import numpy as np

from benchmarks.report import Cell
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.text import TextAnalysis

RANKED = 5
EPOCHS = 5
ROUNDS = 5
BITS = 22  # of the weights of Vowpal Wabbit, which all classes share
PACKAGES = {  # by what they are called: the module, and what installs it
    "fastText": ("fasttext", "fasttext-wheel"),
    "scikit-learn, HashingVectorizer": ("sklearn", "scikit-learn"),
    "Vowpal Wabbit": ("vowpalwabbit", "vowpalwabbit"),
}
ANALYSIS = TextAnalysis.parse("words+pairs")

Labelled = Sequence[tuple[str, str]]  # texts, each with its class
Use = Callable[[str], object]  # of a text


def manyclass(rows: Labelled) -> tuple[Use, Use]:
    """Return how a text is read, and how it is read and ranked."""
    model = Model(Options.parse("svm"), text=ANALYSIS)
    for number, (text, name) in enumerate(rows, 1):
        model.apply(number, Event.learn(ANALYSIS.instance_of(text).instance, [name]))
    return ANALYSIS.instance_of, lambda text: model.rank(
        ANALYSIS.instance_of(text).instance, RANKED
    )


def fasttext(rows: Labelled) -> tuple[Use, Use]:
    """Return the same of fastText's supervised classifier."""
    with tempfile.TemporaryDirectory(prefix="manyclass-") as folder:
        data = Path(folder, "rows")
        lines = (f"__label__{'_'.join(name.split())} {one_line(text)}\n" for text, name in rows)
        data.write_text("".join(lines), encoding="utf-8")
        model = import_module("fasttext").train_supervised(
            input=str(data), wordNgrams=2, epoch=EPOCHS, thread=1, verbose=0
        )
    # The package's own `predict` fails on NumPy 2; this is its native part.
    return (
        lambda text: model.get_line(one_line(text)),
        lambda text: model.f.predict(f"{one_line(text)}\n", RANKED, 0.0, "strict"),
    )


def sklearn(rows: Labelled) -> tuple[Use, Use]:
    """Return the same of hashed words and pairs, and logistic regression by SGD."""
    vectorizer = import_module("sklearn.feature_extraction.text").HashingVectorizer(
        ngram_range=(1, 2)
    )
    model = import_module("sklearn.linear_model").SGDClassifier(loss="log_loss", random_state=0)
    names = sorted({name for _, name in rows})
    texts, classes = [text for text, _ in rows], [name for _, name in rows]
    model.partial_fit(vectorizer.transform(texts), classes, classes=names)
    model.coef_ = np.asfortranarray(model.coef_)  # else each prediction copies all the weights

    def best(text: str) -> list[str]:
        scores = model.decision_function(vectorizer.transform([text]))[0]
        return [names[position] for position in np.argsort(-scores)[:RANKED]]

    return lambda text: vectorizer.transform([text]), best


def vowpalwabbit(rows: Labelled) -> tuple[Use, Use]:
    """Return the same of Vowpal Wabbit, one regressor against all others for each class."""
    names = sorted({name for _, name in rows})
    signs = str.maketrans("|:", "  ")  # of its format
    options = f"--oaa {len(names)} --ngram 2 -b {BITS} --loss_function logistic --quiet"
    model: Any = import_module("vowpalwabbit").Workspace(f"{options} --probabilities")
    for text, name in rows:
        model.learn(f"{names.index(name) + 1} | {one_line(text).translate(signs)}")

    def read(text: str) -> None:
        model.finish_example(model.parse(f"| {one_line(text).translate(signs)}")[0])

    def best(text: str) -> list[str]:
        scores = model.predict(f"| {one_line(text).translate(signs)}")
        return [names[position] for position in np.argsort(scores)[: -RANKED - 1 : -1]]

    return read, best


def one_line(text: str) -> str:
    """Return the text without line ends, which end an example in some formats."""
    return " ".join(text.split())


def microseconds(use: Use, bodies: Sequence[bytes]) -> float:
    """Return the median CPU time a body, of rounds over all of them."""
    rounds = []
    for _ in range(ROUNDS):
        began = thread_time_ns()
        for body in bodies:
            use(json.loads(body)["text"])
        rounds.append((thread_time_ns() - began) / len(bodies) / 1000)
    return median(rounds)


def peer_rows(rows: Labelled, bodies: dict[str, Sequence[bytes]]) -> list[dict[str, Cell]]:
    """Return the CPU times of reading and of ranking, with the bodies by what they are of.

    The libraries learn the rows. An absent library has a note.
    """
    makers = {"fasttext": fasttext, "sklearn": sklearn, "vowpalwabbit": vowpalwabbit}
    ours = times(manyclass(rows), bodies)
    table: list[dict[str, Cell]] = [{"": "manyclass, svm", **ours, "note": None}]
    for name, (module, package) in PACKAGES.items():
        if find_spec(module) is None:
            nothing: dict[str, Cell] = dict.fromkeys(ours)
            table.append({"": name, **nothing, "note": f"not installed: pip install {package}"})
            continue
        theirs = times(makers[module](rows), bodies)
        ratios = " ".join(f"{theirs[each] / ours[each]:.3g}" for each in ours)
        table.append({"": name, **theirs, "note": f"x manyclass: {ratios}"})
    return table


def times(uses: tuple[Use, Use], bodies: dict[str, Sequence[bytes]]) -> dict[str, float]:
    """Return the microseconds of CPU by what is done with a body, and what it is of."""
    return {
        f"{done} {what}, µs": microseconds(use, some)
        for what, some in bodies.items()
        for done, use in zip(("read", "rank"), uses, strict=True)
    }
