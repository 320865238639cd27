import json

import pytest

from manyclass.evaluation.readers import DataMissing
from studies import __main__ as command
from studies.__main__ import STUDIES, main
from studies.declaration import Pivot, Plot, Study, Trial, trials
from studies.held_out import ESTIMATORS
from studies.isolation import Failed
from studies.runner import run
from tests.evaluation.examples import Always, data_set

TABLES = [Pivot("t", ["R1"])]


def read(name, folder):
    return data_set()


def measured(data, name, passes, seed):
    if name in ("broken", "vw-oaa"):
        raise ValueError("no room")
    while name == "slow":
        pass
    yield {"pass": passes, "R1": seed / 10, "rows": len(data.rows)}


def declared(*made, **given):
    return Study("About it", made, measured, TABLES, read=read, **given)


def all_records(study, limit=60, seed=0):
    *_, records = run(study, None, seed, limit)
    return records


def test_a_record_has_its_run_its_tags_and_its_measures():
    study = declared(Trial("one", "ff", 2, 3, {"rating": "0"}))

    assert all_records(study, seed=4) == [
        {
            **{"dataset": "one", "estimator": "ff", "split": split, "rating": "0"},
            **{"pass": 3, "R1": split / 10, "rows": 80},
        }
        for split in (4, 5)
    ]


def test_records_grow_data_set_by_data_set():
    study = declared(*trials(["one", "two"], ["ff", "pa"]))

    assert [len(records) for records in run(study, None, 0, 60)] == [2, 4]


def test_one_estimator_under_several_tags_runs_once(capsys):
    study = declared(*(Trial("one", "ff", tags={"leak": each}) for each in ("yes", "no")))

    assert [each["leak"] for each in all_records(study)] == ["yes", "no"]
    assert capsys.readouterr().err.count("split 0") == 1


def test_a_peer_that_fails_is_recorded_and_a_learner_ends_the_run():
    [record] = all_records(declared(Trial("one", "vw-oaa")))
    assert record["failed"] == "ValueError: no room"

    with pytest.raises(Failed, match="no room"):
        all_records(declared(Trial("one", "broken")))


def test_a_trial_that_takes_too_long_is_recorded():
    [record] = all_records(declared(Trial("one", "slow")), limit=1)

    assert record["failed"] == "stopped after 1 CPU seconds"


def test_printed_values_are_kept_for_the_data_sets_that_run():
    printed = [{"dataset": name, "estimator": "paper", "R1": 0.5} for name in ("one", "two")]

    records = all_records(declared(Trial("one", "ff"), printed=printed))

    assert [(each["dataset"], each["estimator"]) for each in records] == [
        ("one", "paper"),
        ("one", "ff"),
    ]


@pytest.fixture
def named(monkeypatch):
    study = declared(
        *trials(["one", "two"], ["ff", "pa"], splits=2, passes=3),
        plots=[Plot("by size", "rows", "R1")],
    )
    monkeypatch.setitem(STUDIES, "made", study)
    return study


def first_words(output):
    return [line.split()[0] for line in output.splitlines() if line.strip()]


def test_the_command_prints_the_tables_of_the_chosen_trials(named, capsys):
    main(["made", "--datasets", "two", "--estimator", "svm", "--splits", "1", "--rows", "40"])

    assert first_words(capsys.readouterr().out) == ["two:", "estimator", "svm"]


def test_the_command_writes_records_tables_and_figures(named, tmp_path):
    main(["made", "--out", str(tmp_path), "--passes", "1"])

    found = json.loads((tmp_path / "made.json").read_text())
    assert len(found["records"]) == 8
    assert {each["pass"] for each in found["records"]} == {1}
    assert found["command"].startswith("python -m studies")
    written = (tmp_path / "made.md").read_text()
    assert written.startswith("# About it\n")
    assert "| pa | 0.050 ± 0.071 |" in written
    assert "![one: by size](made-1.svg)" in written
    assert "</svg>" in (tmp_path / "made-2.svg").read_text()


def test_tables_are_rendered_anew_without_a_run(named, tmp_path, monkeypatch):
    main(["made", "--out", str(tmp_path)])
    (tmp_path / "made.md").unlink()
    monkeypatch.setattr(command, "run", None)

    main(["made", "--out", str(tmp_path), "--render"])

    assert "| pa | 0.050" in (tmp_path / "made.md").read_text()


def test_a_run_may_add_to_the_records_of_others(named, tmp_path):
    main(["made", "--out", str(tmp_path)])
    before = json.loads((tmp_path / "made.json").read_text())["records"]

    main(["made", "--out", str(tmp_path), "--add", "--estimator", "ff", "--seed", "3"])

    after = json.loads((tmp_path / "made.json").read_text())["records"]
    others = [each for each in before if each["estimator"] != "ff"]
    assert [each for each in after if each["estimator"] != "ff"] == others
    assert {each["split"] for each in after if each["estimator"] == "ff"} == {3, 4}
    assert [each["estimator"] for each in after] == [each["estimator"] for each in before]


def test_without_a_name_the_studies_are_listed(capsys):
    main([])

    listed = capsys.readouterr().out
    assert all(name in listed for name in STUDIES)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["made", "--datasets", "three"], "not in this study: three; it has one, two"),
        (["made", "--render"], "--render and --add need --out"),
        (["made", "--add"], "--render and --add need --out"),
        (["made", "--render", "--out", "nowhere"], "nowhere has no made.json: run the study"),
        (["made", "--estimator", "broken"], "a learner failed: ValueError: no room"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(named, arguments, said):
    with pytest.raises(SystemExit, match=said):
        main(arguments)


def test_missing_data_ends_the_command_and_is_named(tmp_path):
    with pytest.raises(DataMissing, match="clinc150"):
        main(["few-shot", "--data", str(tmp_path)])


@pytest.mark.parametrize("name", ["paper", "default"])
def test_a_declared_study_runs_on_a_small_data_set(name, monkeypatch, capsys):
    monkeypatch.setitem(ESTIMATORS, "always", Always)
    study = STUDIES[name]
    made = [Trial("one", each) for each in ("ff", "svm", "always")]
    small = Study(study.about, made, study.measure, study.tables, read=read)
    monkeypatch.setitem(STUDIES, name, small)

    main([name])

    assert "always" in capsys.readouterr().out


def test_only_a_study_that_searches_takes_bounds_of_a_search():
    with pytest.raises(SystemExit, match="no --evaluations"):
        main(["drift", "--evaluations", "3"])


def test_bounds_of_a_search_reach_the_measure(monkeypatch, capsys):
    def bounded(bounds):
        def measure(data, name, passes, seed):
            yield {"pass": passes, "R1": bounds.evaluations + bounds.rows / 10}

        return measure

    monkeypatch.setitem(STUDIES, "klr", declared(Trial("one", "F1"), bounded=bounded))
    main(["klr", "--evaluations", "3", "--search-rows", "5"])
    assert "3.500" in capsys.readouterr().out
