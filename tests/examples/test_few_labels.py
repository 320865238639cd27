import csv
import json
import subprocess
import sys
from collections import Counter
from urllib.request import Request, urlopen

from tests.docs.blocks import ROOT

NAME = "few-labels"
FOLDER = ROOT / "examples" / NAME


def rows_of(name):
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_texts_are_those_that_the_page_tells_of():
    intents = {row["intent"] for row in rows_of("intents.csv")}
    labels, questions = rows_of("labels.csv"), rows_of("questions.csv")
    assert Counter(row["intent"] for row in labels) == dict.fromkeys(intents, 5)
    assert Counter(row["intent"] for row in questions) == dict.fromkeys(intents, 7)
    texts = [row["question"] for row in (*labels, *questions)]
    assert len({*texts}) == len(texts)


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
