import re

import pytest

from tests.docs.session import is_shown

NAME = "log-triage"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output(run_example):
    return run_example(NAME)


@pytest.fixture(scope="module")
def parts(output):
    """Return what was printed of each 500 lines, by the number of the last."""
    rows = re.findall(r"^ *(\d+) +([\d.]+) +([\d.]+) +(-|(\d+) of (\d+))$", output, re.M)
    return {
        int(last): (float(sent), float(right), int(of_unknown or 0), int(unknown or 0))
        for last, sent, right, _, of_unknown, unknown in rows
    }


def test_it_prints_what_its_page_shows(output, output_on_page):
    assert is_shown(output_on_page(NAME), output)


def test_the_person_gets_fewer_lines_and_the_teams_get_theirs(parts):
    assert [*parts] == [500, 1000, 1500, 2000, 2500, 3000, 3500, 4000]
    assert parts[500][0] < 0.7
    assert all(parts[last][0] > 0.9 for last in parts if last > 500)
    assert all(right > 0.97 for _, right, _, _ in parts.values())


def test_unknown_kinds_are_handed_over_when_they_appear(parts):
    unknown = {last: (sent, count) for last, (_, _, sent, count) in parts.items() if count}
    assert unknown.keys() == {500, 2500}
    assert unknown[2500][1] >= 6  # at least a line of each new kind
    assert sum(sent for sent, _ in unknown.values()) == 0
    assert parts[2500][0] < parts[2000][0]


def test_lines_sent_back_are_ranked_otherwise(output):
    [(back, moved)] = re.findall(r"(\d+) lines were sent back; (\d+) of them", output)
    assert int(back) > 5
    assert int(moved) >= 0.6 * int(back)


def test_suspects_are_wrong_labels(output):
    [wrong] = re.findall(r"(\d+) of the 20 likeliest were wrong", output)
    assert int(wrong) >= 15
    assert "mail bounced\tmail deferred\n" in output
