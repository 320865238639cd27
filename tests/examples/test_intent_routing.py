import re
import subprocess

import pytest

from manyclass.client.client import Client
from tests.cli.services import new_service
from tests.docs.blocks import ROOT
from tests.docs.session import is_shown

NAME = "intent-routing"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of temporary files of the run whose output the tests read."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def output(run_example, folder):
    return run_example(NAME, TMPDIR=str(folder))


def test_it_prints_what_its_page_shows(output, output_on_page):
    assert is_shown(output_on_page(NAME), output)


def test_certain_questions_go_to_the_right_desk(output):
    [(questions, routed, handed_over)] = re.findall(
        r"(\d+) questions: (\d+) routed at once, (\d+) handed", output
    )
    [right] = re.findall(r"(\d+)% went to the right desk", output)
    assert int(questions) == int(routed) + int(handed_over) == 525
    assert int(routed) > 250
    assert int(right) >= 90


def test_the_correction_counts(output):
    first = dict(re.findall(r"^(before|taught wrong|corrected|rebuilt): (\w+)", output, re.M))
    assert first.pop("before") not in ("card_arrival", "lost_property")
    assert first == {
        "taught wrong": "card_arrival",
        "corrected": "lost_property",
        "rebuilt": "lost_property",
    }


def test_it_uses_a_running_service(run_example):
    with new_service() as url, Client(url) as client:
        run_example(NAME, "--url", url)
        sources = {event.source for event in client.events(page=1000)}
        assert sources == {"yesterday", "help desk", "ben"}
        unlabelled = [each.id for each in client.review(limit=100).instances if each.abstained]
        assert len(unlabelled) > 3
        assert {*unlabelled} <= {f"question-{number}" for number in range(506, 526)}


def test_a_temporary_service_leaves_nothing(output, folder):
    assert "rebuilt: " in output
    assert [*folder.iterdir()] == []


def test_wrong_use_is_refused():
    run = ROOT / "examples" / NAME / "run"
    done = subprocess.run([run, "--port", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "[--url URL]" in done.stderr


def test_make_lists_the_examples_if_the_name_is_wrong():
    make = ["make", "--silent", "-C", ROOT, "-o", ".venv/built", "example", "NAME=x"]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    for folder in (ROOT / "examples").glob("*/"):
        assert folder.name in done.stdout
