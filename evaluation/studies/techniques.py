"""Table 1 and figures 3 and 4 of Madani and Huang's report on flat techniques, in kind.

OOZ and PA-II with and without tf-idf, by pass; OOZ by the edges a feature may have; PA-II by the
share of its edges that are kept after training; committees and how they vote; oversampling of rare
classes. The margins and rates of OOZ and PA-II on newsgroups are those that the report names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from manyclass.core.index import Index
from manyclass.core.learners.options import Options
from manyclass.evaluation import sets
from manyclass.evaluation.comparison import Comparison, Plan, Result, Spread, compare, variants
from manyclass.evaluation.indexed import Indexed
from manyclass.evaluation.measures import Truth, measures
from manyclass.evaluation.report import EMPTY, Cell, Table, best_of
from manyclass.evaluation.run import RETRIEVED, train_and_test
from manyclass.evaluation.sets import DataSet
from manyclass.evaluation.studies.study import Study, heard, parser_of
from manyclass.evaluation.writing import short

SETS: Final = ("newsgroups", "cpv", "clinc")
NO_LIMIT: Final = "max_outdegree=65535"
OOZ: Final = f"ooz(margin_threshold=0.5,rate=0.1,{NO_LIMIT}"
PA: Final = f"pa(rivals=1,{NO_LIMIT}"
SLOW_PA: Final = f"pa(margin_threshold=0.05,C=0.005,rivals=1,{NO_LIMIT}"
"""An update of PA-II moves the margin by the loss / (1 + 1/2C): a rate of 0.01 with this C."""
LEARNERS: Final = tuple(
    f"{learner}{tfidf})" for learner in (OOZ, PA, SLOW_PA) for tfidf in ("", ",tfidf=yes")
)
DEGREES: Final = ("10", "25", "100", "500", "1000")
SHARES: Final = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02)
WAITING: Final = 5000  # events that wait in each member of a committee, so that orders differ
MEMBERS: Final = 4
LEAST: Final = 10  # rows that a class has at least when rare ones are oversampled
REPORTED: Final = {  # R1 and R5 on 20 Newsgroups, table 1 of the report
    f"{OOZ})": (0.861, 0.979),
    f"{OOZ},tfidf=yes)": (0.876, 0.983),
    f"{SLOW_PA})": (0.85, 0.97),
    f"{SLOW_PA},tfidf=yes)": (0.87, 0.979),
}


def by_pass(comparison: Comparison) -> Table:
    """R1 on the test rows after each pass, and what the report has where the set is the same."""
    results = [each for each in comparison.results if each.option is None]
    numbers = range(1, comparison.plan.passes + 1)
    rows = []
    for result in results:
        best = result.best_pass()
        r1, r5 = result.test(best, "R1"), result.test(best, "R5")
        cells = [Cell.of(result.test(number, "R1"), deviation=False) for number in numbers]
        rows.append([Cell(result.contender), *cells, Cell.of(r1), Cell.of(r5), Cell(str(best))])
    columns = ["R1 after pass", *map(str, numbers), "best R1", "its R5", "at pass"]
    if comparison.facts.name == "newsgroups":
        columns += ["report R1", "report R5"]
        for row, options in zip(rows, map(Options.parse, LEARNERS), strict=True):
            row += _reported(options)
    best_cells = [best_of([row[at] for row in rows], "more") for at in range(1, len(numbers) + 3)]
    unmarked = [-1] * (len(columns) - 1 - len(best_cells))
    return Table(f"{comparison.facts.name}: by pass", columns, rows, [-1, *best_cells, *unmarked])


def _reported(options: Options) -> list[Cell]:
    """R1 and R5 of the same learner in the report."""
    for specification, figures in REPORTED.items():
        if Options.parse(specification) == options:
            return [Cell(f"{figure:.3f}", figure) for figure in figures]
    return [EMPTY, EMPTY]


def by_degree(comparison: Comparison) -> Table:
    """R1 by the most edges a feature may have while it learns."""
    varied = [each for each in comparison.results if each.option == "max_outdegree"]
    return _accuracy(f"{comparison.facts.name}: OOZ by max_outdegree", "edges", varied)


def _accuracy(title: str, heading: str, results: Sequence[Result]) -> Table:
    """R1, R5, macro F1 after the best pass, and the edges then."""
    rows = []
    for result in results:
        best = result.best_pass()
        edges = [each.edges for each in result.after(best) if each.edges is not None]
        figures = [Cell.of(result.test(best, name)) for name in ("R1", "R5", "macro F1")]
        name = Cell(result.value or result.contender)
        rows.append([name, *figures, Cell.of_cost(edges), Cell(str(best))])
    best_cells = [best_of([row[at] for row in rows], "more") for at in (1, 2, 3)]
    columns = [heading, "R1", "R5", "macro F1", "|W|", "at pass"]
    return Table(title, columns, rows, [-1, *best_cells, -1, -1])


def by_share(data: DataSet, options: Options, plan: Plan) -> Table:
    """Accuracy of a model of which only the heaviest edges were kept after training."""
    found = {share: list[dict[str, float]]() for share in SHARES}
    edges = list[int]()
    for seed in plan.seeds:
        training, test = data.split(seed)
        learner = Indexed(training, options, plan.passes, seed)
        learner.fit(training)
        truth = Truth.of(test, training)
        edges.append(learner.learner.edges)
        for share, kept in sparser(learner):
            found[share].append(measures(kept.rank(test, RETRIEVED), truth))
    rows = []
    for share, all_measured in found.items():
        spreads = [Spread.of([each[name] for each in all_measured]) for name in ("R1", "R5")]
        kept_edges = Cell(short(share * sum(edges) / len(edges)))
        rows.append([Cell(f"{share:.0%}"), *map(Cell.of, spreads), kept_edges])
    title = f"{data.name}: {options.specification} after {plan.passes} passes, made sparser"
    best_cells = [best_of([row[at] for row in rows], "more") for at in (1, 2)]
    return Table(title, ["edges kept", "R1", "R5", "|W|"], rows, [-1, *best_cells, -1])


def sparser(learner: Indexed) -> Iterator[tuple[float, Indexed]]:
    """The learner with ever fewer of its edges. It is changed."""
    index = learner.learner
    if not isinstance(index, Index):
        raise TypeError("only an index can be made sparser")
    edges = index.edges
    for share in SHARES:
        index.sparsify(round(share * edges))
        yield share, learner


def committees(member: str) -> list[Options]:
    """One member alone, and a committee of several of them by each kind of vote."""
    alone = Options.parse(member)
    waiting = f"{member.removesuffix(')')},shuffle={WAITING})"
    members = "+".join([waiting] * MEMBERS)
    votes = ("majority", "rarest", "score")
    return [alone, *(Options.of("committee", members=members, vote=vote) for vote in votes)]


def by_vote(data: DataSet, member: str, plan: Plan) -> Table:
    """A learner alone and in a committee, which is trained once and then votes in each way."""
    alone, *votes = committees(member)
    found = {"one alone": list[dict[str, float]]()}
    found |= {f"{MEMBERS}, vote {each.vote}": [] for each in votes}
    for seed in plan.seeds:
        training, test = data.split(seed)
        truth = Truth.of(test, training)
        one = Indexed(training, alone, plan.passes, seed)
        several = Indexed(training, votes[0], plan.passes, seed)
        one.fit(training)
        several.fit(training)
        found["one alone"].append(measures(one.rank(test, RETRIEVED), truth))
        for options in votes:
            several.learner.configure(options)
            ranking = several.rank(test, RETRIEVED)
            found[f"{MEMBERS}, vote {options.vote}"].append(measures(ranking, truth))
    names = ("R1", "R5", "macro F1")
    rows = [
        [Cell(name), *(Cell.of(Spread.of([each[of] for each in ran])) for of in names)]
        for name, ran in found.items()
    ]
    best_cells = [best_of([row[at] for row in rows], "more") for at in (1, 2, 3)]
    title = f"{data.name}: {member} in committees, after {plan.passes} passes"
    return Table(title, ["members", *names], rows, [-1, *best_cells])


def oversampled(data: DataSet, options: Options, plan: Plan) -> Table:
    """R1 and macro F1 by pass, with rare classes as they are and repeated."""
    rows = []
    for name, least in (("as they are", 0), (f"at least {LEAST} times", LEAST)):
        outcomes = []
        for seed in plan.seeds:
            training, test = data.split(seed)
            taught = training.take(training.oversampling(least)).shuffled(seed)
            outcomes.append(train_and_test(options, taught, test, plan.passes, seed))
        result = Result(name, outcomes, name)
        figures = [
            Cell.of(result.test(number, measure), deviation=False)
            for measure in ("R1", "macro F1")
            for number in range(1, plan.passes + 1)
        ]
        rows.append([Cell(name), *figures])
    columns = ["rows of a class"]
    columns += [f"{m} {n}" for m in ("R1", "F1") for n in range(1, plan.passes + 1)]
    best_cells = [best_of([row[at] for row in rows], "more") for at in range(1, len(columns))]
    title = f"{data.name}: {options.specification}, R1 and macro F1 after each pass"
    return Table(title, columns, rows, [-1, *best_cells])


def main() -> None:
    parser = parser_of(__doc__, SETS)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="of the first split")
    given = parser.parse_args()
    plan = Plan(given.passes, given.splits, given.seed)
    few = replace(plan, passes=min(given.passes, 3))
    study = Study("manyclass.evaluation.studies.techniques", given)
    for name in given.sets:
        data = sets.read(name, given.data)
        degrees = variants([Options.parse(f"{OOZ},tfidf=yes)")], {"max_outdegree": DEGREES})[1:]
        learners = variants(list(map(Options.parse, LEARNERS)), {}) + degrees
        comparison = compare(data, learners, {}, plan, heard)
        study.comparisons.append(comparison)
        study.show(by_pass(comparison))
        study.show(by_degree(comparison))
        study.show(by_share(data, Options.parse(f"{PA},tfidf=yes)"), few))
        study.show(by_vote(data, "pa(tfidf=yes)", few))
        study.show(oversampled(data, Options.parse("pa(tfidf=yes)"), few))
    study.write()


if __name__ == "__main__":
    main()
