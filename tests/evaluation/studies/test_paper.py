import json
from dataclasses import replace

import pytest

from manyclass.evaluation.comparison import Result
from manyclass.evaluation.peers import PEERS
from manyclass.evaluation.run import Outcome, Pass
from manyclass.evaluation.studies import paper
from manyclass.evaluation.studies.paper import BASELINE, BEST, FIRST, Printed, Setting
from manyclass.evaluation.studies.study import parser_of
from tests.evaluation.examples import Always, data_set

SETTING = Setting(2, 2, {"always": 2, "once": 1}, {FIRST: Printed(1.5, 0.4, 0.9, "3s", 7, "5k")})


def result(*r1s, name="ff"):
    """R1 of a result, a list of splits for each pass."""
    outcomes = [
        Outcome(
            seed,
            [
                Pass(number, 1.0, {"R1": r1, "R5": 1.0, "HR": 1.0}, {"R1": 1.0}, 10)
                for number, r1 in enumerate(passes, 1)
            ],
        )
        for seed, passes in enumerate(zip(*r1s, strict=True))
    ]
    return Result(name, outcomes, name)


@pytest.fixture(scope="module")
def comparisons():
    return paper.measure(data_set(), SETTING, {"once": Always, "always": Always})


def rows_of(table):
    return {row[0].text: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_every_contender_is_run_on_its_number_of_splits(comparisons):
    ran = [
        [
            (each.contender, each.passes, len(each.outcomes))
            for each in one.results
            if not each.option
        ]
        for one in comparisons
    ]

    focused = [
        f"ff({margin}sublinear=no,mass_cap=0)"
        for margin in ("margin_threshold=0,", "", "margin_threshold=0.5,")
    ]
    assert ran == [
        [*((name, 2, 2) for name in focused), ("frequency", 1, 2), ("always", 1, 2)],
        [("once", 1, 1)],
    ]


def test_the_margins_are_varied_as_one_option(comparisons):
    varied = [each for each in comparisons[0].results if each.option == "margin_threshold"]

    assert [each.value for each in varied] == ["0", "0.1", "0.5"]


def test_the_table_has_the_rows_of_the_paper_and_its_figures_beside(comparisons):
    table = paper.table_of(comparisons, SETTING)

    rows = rows_of(table)
    assert [row[0].text for row in table.rows[2:]] == [BASELINE, "always", "once"]
    assert [row[0].text for row in table.rows[:2]] == ["FF δ_m=0, p=1"] * 2
    first = dict(zip(table.columns, table.rows[0], strict=True))
    assert [first[name].text for name in ("R1", "paper: HR", "R1 ", "T_tr", "|W| ")] == [
        *("1.000 ± 0.000", "1.500", "0.400", "3s", "5k")
    ]
    assert rows["once"]["splits"].text == "1"
    assert rows["once"]["FF wins"].text == "1:0"
    assert rows["always"]["FF wins"].text == "2:0"
    assert rows["always"]["R1 "].text == "-"


def test_columns_of_the_paper_are_left_out_where_it_has_nothing(comparisons):
    table = paper.table_of(comparisons, replace(SETTING, printed={}))

    assert not [column for column in table.columns if column.endswith(" ") or "paper" in column]


def test_a_peer_that_fails_is_named_with_what_it_said():
    class Failing(Always):
        def fit(self, rows):
            raise ValueError("no room")

    comparisons = paper.measure(data_set(), SETTING, {"always": Failing})

    assert rows_of(paper.table_of(comparisons, SETTING))["always"]["splits"].text == (
        "ValueError: no room"
    )


def test_the_best_is_over_learners_and_passes():
    one, other = result([0.5, 0.5], [0.6, 0.8]), result([0.9, 0.7], [0.1, 0.1])

    assert paper.best_of([one, other]) == (other, 1)
    assert paper.best_of([one]) == (one, 2)


def test_of_equal_ones_the_first_is_best():
    one, other = result([0.5], [0.5]), result([0.5], [0.5])

    found, number = paper.best_of([one, other])
    assert found is one
    assert number == 1


def test_wins_are_counted_after_the_pass_that_is_shown():
    ours = result([0.9] * 10, [0.1] * 10)
    peer = result([0.5] * 10, name="peer")

    assert paper.wins(ours, 1, peer).text == "10:0*"
    assert paper.wins(ours, 2, peer).text == "0:10*"
    assert paper.wins(ours, 1, result([0.5] * 3)).text == "3:0"
    assert paper.wins(ours, 1, result([0.9] * 3)).text == "0:0"


def test_peers_are_those_of_the_registry_and_one_versus_rest_with_another_c(monkeypatch):
    made = []
    monkeypatch.setattr(paper, "OneVersusRest", lambda *given: made.append(given))

    assert paper.maker_of("committee") is PEERS["committee"]
    paper.maker_of("linearsvc C=10")(3)

    assert [(name, binary.c, seed) for name, binary, seed in made] == [("linearsvc C=10", 10.0, 3)]


def test_every_set_names_peers_that_there_are():
    for setting in paper.SETTINGS.values():
        assert all(name.partition(" C=")[0] in PEERS for name in setting.peers)
        assert setting.printed.keys() <= {FIRST, BEST, BASELINE, *setting.peers}


def test_focus_has_no_limit_on_memory_as_in_the_paper():
    options = paper.focused(0.5, leak=False)

    assert (options.learner, options.margin_threshold, options.feature_memory) == ("ff", 0.5, 0)
    assert (options.leak, options.min_weight, options.max_outdegree) == (False, 0.01, 25)


def test_the_command_prints_a_table_for_each_set_and_writes_both_files(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(paper, "SETTINGS", {"a": SETTING, "b": SETTING})
    parser = parser_of("", ["a", "b"])
    parser.add_argument("--without-peers", action="store_true")
    given = ["--json", str(tmp_path / "f.json"), "--html", str(tmp_path / "f.html")]
    read = []

    def reading(name, folder):
        read.append((name, folder))
        return data_set()

    paper.main(
        parser.parse_args([*given, "--without-peers", "--sets", "b", "--data", "there"]), reading
    )

    assert [(name, str(folder)) for name, folder in read] == [("b", "there")]
    assert "FF δ_m=0, p=1" in capsys.readouterr().out
    found = json.loads((tmp_path / "f.json").read_text())
    assert (len(found["tables"]), len(found["sets"])) == (1, 1)
    assert "manyclass.evaluation.studies.paper" in found["command"]
    assert "</html>" in (tmp_path / "f.html").read_text()
