import csv
import json
import re
import subprocess
import sys
from collections import Counter
from urllib.request import Request, urlopen

import pytest

from manyclass.client.client import Client
from tests.cli.services import new_service
from tests.docs.blocks import ROOT
from tests.docs.session import is_shown

NAME = "few-labels"
FOLDER = ROOT / "examples" / NAME


@pytest.fixture(scope="module")
def output(run_example):
    return run_example(NAME)


def rows_of(name):
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_it_prints_what_its_page_shows(output, output_on_page):
    assert is_shown(output_on_page(NAME), output)


def test_names_rank_before_the_first_label_and_labels_rank_better(output):
    tables = dict(re.findall(r"^(by-names|five-labels) +(0\.\d+)", output, re.MULTILINE))
    assert 0.6 <= float(tables["by-names"]) < float(tables["five-labels"])
    assert float(tables["five-labels"]) >= 0.75


def test_the_texts_are_those_that_the_page_tells_of():
    intents = {row["intent"] for row in rows_of("intents.csv")}
    labels, questions = rows_of("labels.csv"), rows_of("questions.csv")
    assert Counter(row["intent"] for row in labels) == dict.fromkeys(intents, 5)
    assert Counter(row["intent"] for row in questions) == dict.fromkeys(intents, 7)
    texts = [row["question"] for row in (*labels, *questions)]
    assert len({*texts}) == len(texts)


def test_it_uses_a_running_service(run_example):
    with new_service() as url, Client(url) as client:
        run_example(NAME, "--url", url)
        assert {each.name: each.learned for each in client.classes()} == dict.fromkeys(
            (row["intent"] for row in rows_of("intents.csv")), 5
        )


def test_its_server_has_the_form_of_embeddings_and_ends_with_its_input():
    command = [sys.executable, FOLDER / "embedding_server.py"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as server:
        url = server.stdout.readline().strip()
        body = json.dumps({"model": "x", "input": ["slow internet", "slow internet", "a bill"]})
        with urlopen(Request(f"{url}/v1/embeddings", body.encode())) as answer:
            data = json.load(answer)["data"]
        server.stdin.close()
        assert server.wait() == 0
    assert [each["index"] for each in data] == [0, 1, 2]
    assert data[0]["embedding"] == data[1]["embedding"] != data[2]["embedding"]
    assert {len(each["embedding"]) for each in data} == {64}
