"""The paper's row of words under each rule for words and for the ends of sentences.

The paper says neither. The rules in use (letters and digits, with ends) were chosen by these very
figures, so they are no independent confirmation; this table shows how much hangs on them.
"""

import re
from argparse import ArgumentParser, Namespace

from benchmarks.paper import ROWS, train_and_test
from benchmarks.report import Report, add_json_option, spread
from manyclass.core.learners.options import Options
from manyclass.core.words import WORD
from manyclass.evaluation import readers

RULES = {
    "letters and digits": WORD,
    "apostrophes and hyphens inside a word too": re.compile(r"[^\W_]+(?:['\u2019\-]+[^\W_]+)*"),
}
WORDS = ROWS[0]


def main(options: Namespace) -> None:
    report, texts = Report(options), readers.novels(options.data)
    ranking = Options.of(
        "ff", margin_threshold=WORDS.margin_threshold, feature_memory=0, sublinear=False
    )
    table = []
    for name, word in RULES.items():
        for ends in (True, False):
            rows = readers.words_of(texts, word, ends)
            runs = [
                train_and_test(rows.shuffled(seed), WORDS.training_share, ranking)
                for seed in range(options.shuffles)
            ]
            table.append(
                {
                    "words": name,
                    "ends": "with" if ends else "without",
                    "R1": spread([run.r1 for run in runs], 4),
                    "R5": spread([run.r5 for run in runs], 4),
                    "classes": len(rows.classes),
                    "active": len(rows.indices) / len(rows),
                }
            )
    report.table("word prediction by rule", table)
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    readers.add_data_option(parser)
    add_json_option(parser)
    parser.add_argument("--shuffles", type=int, default=3, help="orders to average over")
    main(parser.parse_args())
