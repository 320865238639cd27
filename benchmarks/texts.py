"""The cost of texts: of their analysis, and of requests beside a bare ASGI application.

The analysis of real questions and articles, and of made texts of other languages, by three
analyses: nanoseconds of CPU a character, the median of many rounds. Then requests of questions and
articles, as in serving.py, on the event loop and by a worker, with words and pairs and with the
analysis of new stores; an article also as the features that its text has. Then other libraries
that read and rank the same texts, in this process. Files come first (file_reading.py).
"""
# ruff: noqa: RUF001 (the signs of Chinese are meant)

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain, product
from pathlib import Path
from random import Random
from statistics import median
from time import thread_time_ns
from typing import Any

from benchmarks import load, serving
from benchmarks.file_reading import FORMER_SHARE, file_rows
from benchmarks.process import service_on_sqlite
from benchmarks.report import Cell, Report
from benchmarks.serving_peers import PREBUILT
from benchmarks.text_peers import peer_rows
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.evaluation import readers
from manyclass.service import samples as service_samples

ROUNDS = 31
MEASURED = 100  # texts whose analysis is measured
LONG = 2_000  # characters

Samples = tuple[list[dict[str, Any]], list[dict[str, Any]]]  # labelled questions, and articles

ANALYSES = ("words+pairs", "words+pairs+characters", "words+pairs+characters+unmarked+symbols")
DEFAULT, WORDS_AND_PAIRS = str(DEFAULT_TEXT), "words+pairs"
AMONG = 10  # classes
ARTICLE_CHARACTERS = 1_900
QUESTIONS = Path(str(files(service_samples))) / "banking77.jsonl.gz"
NANOSECONDS = {WORDS_AND_PAIRS: 8.0, DEFAULT: 25.0}  # a character
# CPU time a request, beside a bare application, by the analysis, and where and what is asked.
LIMITS = {
    (analysis, f"{where}, {what}"): limit
    for analysis, what, limits in (
        (DEFAULT, "/rank of a question", (0.75, 0.65)),
        (DEFAULT, "/rank of an article", (3.5, 3.5)),
        (DEFAULT, "/learn of a question", (4.0, 4.0)),
        (WORDS_AND_PAIRS, "/rank of a question", (0.75, 0.65)),
        (WORDS_AND_PAIRS, "/rank of an article", (1.5, 1.5)),
        (WORDS_AND_PAIRS, "/learn of a question", (2.6, 2.6)),
    )
    for where, limit in zip(("loop", "worker"), limits, strict=True)
}
SENTENCES = {
    "German": (
        "Für die größte Übersicht wählen Sie die Schaltfläche; danach prüft das System die",
        "Einträge und zeigt sämtliche Änderungen der vergangenen Woche in einer schönen Tabelle.",
    ),
    "Hindi": ("हिन्दी भाषा में लिखा हुआ यह पाठ बहुत ही सरल और स्पष्ट है,", "और इसे पढ़ना आसान है।"),
    "Chinese": ("我想订一张去北京的火车票，明天天气怎么样？", "请告诉我时间和价格，谢谢。"),
    "Arabic": ("هذا النص مكتوب باللغة العربية وهو سهل القراءة والفهم،", "ويحتوي كلمات مُشَكَّلَة."),
    "Russian": (
        "Это простой текст на русском языке, который нужно разобрать",
        "на слова и пары слов.",
    ),
}


def texts(samples: Samples) -> dict[str, list[str]]:
    """Return texts by name: real questions and articles, and made ones of other languages."""
    questions, articles = ([each["text"] for each in some[:MEASURED]] for some in samples)
    found = {"questions, English": questions, "articles, English": articles}
    drawn = Random(0)
    for language, (first, second) in SENTENCES.items():
        between = " " if " " in first else ""  # words, or signs of Chinese
        words = (first.split() + second.split() if between else list(first + second)) * LONG
        # each in an order of its own, so that pairs differ
        made = (between.join(drawn.sample(words, LONG)) for _ in range(MEASURED))
        found[f"made, {language}"] = [text[:LONG] for text in made]
    return found


def nanoseconds(analysis: TextAnalysis, texts: Sequence[str]) -> float:
    """Return the CPU time a character to make the instances of texts, the median of rounds."""
    rounds = []
    for _ in range(ROUNDS):
        begin = thread_time_ns()
        for text in texts:
            analysis.instance_of(text)
        rounds.append(thread_time_ns() - begin)
    return median(rounds) / sum(map(len, texts))


def analysis_rows(samples: Samples) -> list[dict[str, Cell]]:
    """Return the nanoseconds a character of each text by each analysis."""
    return [
        {
            "nanoseconds a character": name,
            **{each: nanoseconds(TextAnalysis.parse(each), some) for each in ANALYSES},
        }
        for name, some in texts(samples).items()
    ]


# --- requests ------------------------------------------------------------------------------------


def pieces(text: str, size: int) -> list[str]:
    """Return pieces of whole words, of nearly so many characters; the end of the text is left."""
    found, words, length = list[str](), list[str](), 0
    for word in text.split():
        if length + len(word) > size and words:
            found.append(" ".join(words))
            words, length = [], 0
        words.append(word)
        length += len(word) + 1
    return found


def samples(folder: Path) -> Samples:
    """Return labelled questions to a bank, and posts in pieces as long as an article."""
    questions = [*readers.json_lines(QUESTIONS)]
    articles = [
        {"text": piece, "classes": classes}
        for text, classes in readers.posts(folder)
        for piece in pieces(text, ARTICLE_CHARACTERS)[:4]
    ]
    return questions, articles


def rankings(some: Sequence[dict[str, Any]], **how: object) -> list[bytes]:
    """Return requests that rank the texts."""
    bodies = (serving.encoded({"text": each["text"], **how}) for each in some[:PREBUILT])
    return [load.post("/rank", body) for body in bodies]


def named(some: Sequence[dict[str, Any]], analysis: str) -> list[bytes]:
    """Return requests that rank the features of the texts, as a client names them."""
    reads = TextAnalysis.parse(analysis).features_of
    bodies = (serving.encoded({"features": reads(each["text"])}) for each in some[:PREBUILT])
    return [load.post("/rank", body) for body in bodies]


def request_rows(
    analysis: str,
    workers: int,
    samples: Samples,
    options: Namespace,
) -> list[dict[str, Cell]]:
    """Return the costs of requests by one analysis, beside a bare application."""
    questions, articles = samples
    among = sorted({name for each in questions for name in each["classes"]})[:AMONG]
    learned = [load.post("/learn", serving.encoded(each)) for each in questions[:PREBUILT]]
    where = "worker" if workers else "loop"
    rows = []
    with service_on_sqlite(
        {options.server_core},
        options.folder,
        text=analysis,
        max_concurrent=serving.UNLIMITED,
        workers=workers,
    ) as server:
        serving.teach(server, [*chain(questions[::4], articles[::4])])
        asked = [
            ("/rank of a question", rankings(questions), serving.RANK_CONNECTIONS),
            ("/rank of an article", rankings(articles), serving.RANK_CONNECTIONS),
            ("/rank of its features", named(articles, analysis), serving.RANK_CONNECTIONS),
            ("/learn of a question", learned, serving.LEARN_CONNECTIONS),
        ]
        for how in ({"threshold": 0.1, "min_confidence": 0.1}, {"among": among}, {"explain": True}):
            name = f"/rank of a question, {' and '.join(how)}"
            asked.append((name, rankings(questions, **how), serving.RANK_CONNECTIONS))
        for name, requests, connections in asked:
            ours, theirs = serving.beside_bare(server, requests, connections, options)
            bare = theirs["CPU µs/request"]
            rows.append(serving.row(f"bare, as {name}", theirs, 1, None))
            rows.append(serving.row(f"{where}, {name}", ours, 1, bare))
    return rows


def in_process(samples: Samples) -> list[dict[str, Cell]]:
    """Return the times of other libraries with the texts, all of which they learn."""
    bodies = {
        what: [serving.encoded({"text": each["text"]}) for each in some[:PREBUILT]]
        for what, some in zip(("a question", "an article"), samples, strict=True)
    }
    rows = [(str(each["text"]), each["classes"][0]) for some in samples for each in some[:PREBUILT]]
    return peer_rows(rows, bodies)


def main(options: Namespace) -> None:
    os.sched_setaffinity(0, {options.load_core})
    report = Report(options)
    files = file_rows(options.data, options.former, options.server_core)
    report.table("Files", files)
    for each in files:
        if share := each.get("x former"):
            report.limit(f"{each['']} x former", float(share), FORMER_SHARE)
    sent = samples(options.data)
    analyses = analysis_rows(sent)
    report.table("Analysis", analyses)
    for each, (analysis, limit) in product(analyses, NANOSECONDS.items()):
        name = f"{each['nanoseconds a character']}, {analysis}"
        report.limit(f"ns a character, {name}", float(each[analysis] or 0), limit)
    for analysis in dict.fromkeys((DEFAULT, WORDS_AND_PAIRS)):
        for workers in (0, 1):
            rows = request_rows(analysis, workers, sent, options)
            report.table(f"{analysis}, {workers} workers", rows)
            for each in rows:
                name = str(each[""])
                if limit := LIMITS.get((analysis, name)):
                    report.limit(f"{name} x bare", float(each["x bare"] or 0), limit)
    report.table("In this process", in_process(sent))
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    serving.add_options(parser, seconds=3.0, rounds=5)
    parser.add_argument("--former", help="the Python of another manyclass, as .venv/bin/python")
    parser.add_argument("--folder", type=Path, help="where the service keeps its store meanwhile")
    main(parser.parse_args())
