"""manyclass give: rows of files wait for people, also after a restart, until they are labelled."""

import json

from manyclass.client.client import Client
from tests.cli.services import new_service


def waiting(url, **choice):
    with Client(url) as client:
        found = client.review(100, **choice).instances
    return {each.id: (each.text, each.source, each.batch) for each in found}


def test_rows_of_files_wait_with_their_ids_sources_and_batches(manyclass, tmp_path):
    one, two = tmp_path / "one letter.csv", tmp_path / "two.jsonl"
    one.write_text("nr,text,from\n007,a dark lamp,Ann\n8,a full bin,Ben\n")
    two.write_text('{"text": "a rat", "id": "9"}\n{"text": 5}\n')
    columns = ("--id-column", "nr", "--source-column", "from")
    with new_service(store=f"sqlite:{tmp_path}/store.db") as url:
        first = manyclass("give", one, *columns, "--url", url)
        assert "gave 2 in" in first.stderr
        assert "`manyclass review --batch 'one letter.csv'` lists those" in first.stderr
        second = manyclass("give", two, one, "--url", url, "--batch", "all", exit_code=1)
        assert "two.jsonl:2: `text` must be a string" in second.stderr
        assert second.stderr.count("`manyclass review --batch all`") == 2
        manyclass("events", "delete", "--batch", "all", "--yes", "--url", url)
        assert manyclass("give", one, *columns, "--url", url).exit_code == 0
    with new_service(store=f"sqlite:{tmp_path}/store.db") as url:
        assert waiting(url) == {
            "007": ("a dark lamp", "Ann", "one letter.csv"),
            "8": ("a full bin", "Ben", "one letter.csv"),
        }
        with Client(url) as client:
            client.learn({"id": "007", "classes": ["lamps"]})
        assert list(waiting(url, batch="one letter.csv")) == ["8"]


def test_standard_input_has_no_batch_and_its_instances_get_ids(manyclass):
    with new_service() as url:
        body = json.dumps({"features": {"puck": 2}})
        result = manyclass("give", "-", "--url", url, input=body)
        assert "`manyclass review` lists those" in result.stderr
        [(given, (text, _, batch))] = waiting(url).items()
        assert given
        assert (text, batch) == (None, None)


def test_a_full_queue_is_one_line(manyclass):
    with new_service(review_items=1) as url:
        body = "".join(f'{{"text": "{each}"}}\n' for each in "ab")
        full = manyclass("give", "-", "--url", url, input=body, exit_code=1)
        assert "has no room for these instances" in full.stderr
        assert waiting(url) == {}
