import pytest

from benchmarks import committees
from manyclass.core.learners.options import Options


@pytest.mark.parametrize("specification", ["committee(members=ff+pa,vote=score)", "iplt"])
def test_each_step_takes_time(specification, monkeypatch):
    monkeypatch.setattr(committees, "ALONE", 5)
    training, test = committees.texts(10, 60).split(0.8)

    spent = committees.microseconds_of(Options.parse(specification), training, test)

    assert list(spent) == list(committees.STEPS)
    assert min(spent.values()) >= 0


def test_a_committee_is_compared_with_the_sum_of_its_members(monkeypatch):
    def microseconds_of(options, training, test):
        spent = {"ff": 1.0, "pa": 2.0, "committee": 6.0}[options.learner]
        return dict.fromkeys(committees.STEPS, spent)

    monkeypatch.setattr(committees, "microseconds_of", microseconds_of)
    rows = committees.texts(2, 4).split(0.5)

    lines = committees.table(rows, "committee(members=ff+pa)", 3)

    assert [line["step"] for line in lines] == list(committees.STEPS)
    assert {line["committee / members"] for line in lines} == {2.0}
