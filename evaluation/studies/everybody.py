"""All learners against all peers, one after the other on the same rows: a table for each set.

Every learner learns each row once; peers are trained as their packages recommend. The last table
says, for each set, who is ahead of the default learner, and by how much.
"""

from argparse import Namespace
from collections.abc import Sequence
from typing import Final

from manyclass.core.learners.options import Options
from manyclass.evaluation import sets
from manyclass.evaluation.comparison import Comparison, Plan, Result, Variant, compare
from manyclass.evaluation.contender import Maker
from manyclass.evaluation.peers import PEERS
from manyclass.evaluation.report import Cell, Table, table_of
from manyclass.evaluation.studies.default import part_of
from manyclass.evaluation.studies.study import Study, heard, parser_of

SETS: Final = ("newsgroups-bydate", "clinc", "cpv", "eurlex", "yso")
DEFAULT: Final = "svm"
LEARNERS: Final = (
    DEFAULT,
    "svm(replay=0)",
    "ff",
    "ff(margin_threshold=0,sublinear=no,mass_cap=0)",  # as the paper has it
    "ff(tfidf=yes)",
    "ind",
    "ema",
    "ooz(margin_threshold=0.5,max_outdegree=50,sublinear=yes,tfidf=yes,rate=0.1)",
    "pa(sublinear=yes,tfidf=yes)",
    "mmp(sublinear=yes,tfidf=yes)",
    "arow(sublinear=yes,tfidf=yes)",
    "oplt",
    "iplt",
    "frequency",
    "committee(members=svm+arow(sublinear=yes,tfidf=yes)+ff,vote=score)",
    "committee(members=iplt+iplt+iplt,vote=probability)",
)
FEW_CLASSES: Final = ("newsgroups-bydate", "clinc")
# What would take hours or more memory than there is on sets of thousands of classes.
ONE_MODEL_A_CLASS: Final = (
    *("perceptron", "committee", "linearsvc", "linearsvc+tfidf", "sk-pa"),
    *("linearsvc-tuned", "linearsvc-sigmoid"),
    *("sk-pa+tfidf", "topdown-committee", "napkinxc-br", "river-pa", "river-lr", "river-nb"),
)
# Of manyclass.evaluation.studies.trees: other shapes of the same trees.
IN_ANOTHER_STUDY: Final = (
    *("napkinxc-oplt-random", "napkinxc-oplt-16", "napkinxc-oplt-random-16", "omikuji-collapsed"),
    *("napkinxc-oplt-random+tfidf", "napkinxc-oplt-16+tfidf", "napkinxc-oplt-random-16+tfidf"),
    "omikuji-collapsed+tfidf",
)
MANY_CLASSES: Final = ("eurlex", "yso")
# What goes through all classes, or all memories, again and again for each instance.
EVERY_CLASS_EACH_TIME: Final = (
    *("vw-oaa", "vw-oaa+tfidf", "vw-oaa-once", "fasttext", "vw-recall-tree", "vw-memory-tree"),
    *("topdown-perceptron", "topdown-svm", "unweighted", "unweighted-committee"),
)
# Of these, what can be afforded on this set all the same.
AFFORDABLE: Final = {"cpv": ("linearsvc", "linearsvc+tfidf", "napkinxc-br")}
MEASURES: Final = ("R1", "R5", "P5")


def peers_for(name: str) -> dict[str, Maker]:
    """The peers that can be afforded on this set."""
    left_out: tuple[str, ...] = IN_ANOTHER_STUDY
    if name not in FEW_CLASSES:
        left_out += ONE_MODEL_A_CLASS
    if name in MANY_CLASSES:
        left_out += EVERY_CLASS_EACH_TIME
    kept = AFFORDABLE.get(name, ())
    return {peer: PEERS[peer] for peer in PEERS if peer not in left_out or peer in kept}


def ahead(comparisons: Sequence[Comparison]) -> Table:
    """Who is ahead of the default learner on each set, in points, best first."""
    rows = []
    for comparison in comparisons:
        results = {result.contender: result for result in comparison.measured()}
        for measure in MEASURES:
            mine = _figure(results[DEFAULT], measure)
            better = sorted(
                (
                    (_figure(result, measure) - mine, name)
                    for name, result in results.items()
                    if _figure(result, measure) > mine
                ),
                reverse=True,
            )
            said = ", ".join(f"{name} {100 * by:+.1f}" for by, name in better) or "nobody"
            rows.append([Cell(comparison.facts.name), Cell(measure), Cell(said)])
    return Table(f"Ahead of {DEFAULT}, points", ["set", "measure", "who"], rows, [-1, -1, -1], [])


def _figure(result: Result, measure: str) -> float:
    return result.test(result.passes, measure).mean


def main(given: Namespace) -> None:
    study = Study("manyclass.evaluation.studies.everybody", given)
    plan = Plan(passes=1, splits=1)
    for name in given.sets:
        data = sets.read(name, given.data)
        if name not in FEW_CLASSES:
            data = part_of(data)
        variants = [Variant(Options.parse(each), each) for each in LEARNERS]
        comparison = compare(data, variants, peers_for(name), plan, heard)
        study.comparisons.append(comparison)
        study.show(table_of(comparison))
    study.show(ahead(study.comparisons))
    study.write()


if __name__ == "__main__":
    main(parser_of(__doc__, SETS).parse_args())
