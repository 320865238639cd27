import json
import subprocess
import sys

import pytest

from manyclass.cli import taught_batches
from manyclass.client.client import Client
from manyclass.client.errors import ServiceUnreachable
from tests.cli.services import new_service


def lines(*bodies):
    return "".join(json.dumps(body) + "\n" for body in bodies)


def events(name, count):
    """Events whose feature tells their class."""
    return [{"features": [f"{name}{n % 3}"], "classes": [f"{name}{n % 3}"]} for n in range(count)]


def learned(url, name):
    """Return the number of events of each class with this prefix."""
    with Client(url) as client:
        return {each.name: each.learned for each in client.classes(prefix=name)}


def test_all_lines_of_all_files_are_learned(manyclass, service, tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(lines(*events("plain", 100)))
    second.write_text(lines(*events("plain", 200)))
    result = manyclass("learn", first, second, "--url", service, "--per-request", 7)
    assert "learned 300 in" in result.stderr
    assert "R1 0.99" in result.stderr  # all but the first three
    assert result.stdout == ""
    assert learned(service, "plain") == {"plain0": 101, "plain1": 100, "plain2": 99}


def test_standard_input_is_learned(manyclass, service):
    manyclass("learn", "-", "--url", service, input=lines(*events("stdin", 3)))
    assert sum(learned(service, "stdin").values()) == 3


def test_a_source_is_that_of_events_without_one(manyclass, service):
    given = [{"text": "x", "classes": ["sourced"]}, {"text": "y", "classes": ["sourced"]}]
    given[1]["source"] = "its own"
    body = lines(*given)
    manyclass("learn", "-", "--url", service, "--source", "a file", input=body)
    with Client(service) as client:
        sources = [event.source for event in client.events(of_class="sourced")]
    assert sources == ["its own", "a file"]


# --- a batch is taught once -----------------------------------------------------------------------


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file of events whose classes begin with its name."""

    def written(name, count=3):
        file = tmp_path / f"{name}.jsonl"
        file.write_text(lines(*events(name, count)))
        return file

    return written


def test_a_file_is_the_batch_of_its_events(manyclass, service, write):
    manyclass("learn", write("own"), "--url", service)
    with Client(service) as client:
        [event] = client.events(of_class="own0")
    assert (event.batch, event.source) == ("own.jsonl", None)


def test_a_batch_is_not_taught_twice_by_mistake(manyclass, service, write):
    fresh, file = write("unsent"), write("again")
    manyclass("learn", file, "--url", service)
    refused = manyclass("learn", fresh, file, "--per-request", 1, "--url", service, exit_code=1)
    assert refused.stderr == (
        "manyclass: the service has 3 events of the batch 'again.jsonl' already. Add --again to"
        " teach it once more, --skip N to resume after line N after an interruption, or --batch"
        " with another name if the file is another one; `manyclass events delete --batch"
        " again.jsonl` takes them back\n"
    )
    assert learned(service, "unsent") == {}
    assert sum(learned(service, "again").values()) == 3
    manyclass("learn", file, "--url", service, "--again")
    assert sum(learned(service, "again").values()) == 6
    manyclass("events", "delete", "--batch", "again.jsonl", "--url", service, "--yes")
    manyclass("learn", file, "--url", service)
    assert "learned 3" in manyclass("learn", file, "--url", service, "--batch", "other").stderr


def test_a_batch_of_standard_input_is_not_taught_twice_either(manyclass, service):
    given = ("learn", "-", "--url", service, "--batch", "piped")
    manyclass(*given, input=lines(*events("piped", 1)))
    refused = manyclass(*given, input=lines(*events("piped", 1)), exit_code=1)
    assert "the service has 1 event of the batch 'piped' already" in refused.stderr
    assert learned(service, "piped") == {"piped0": 1}


def test_files_of_one_batch_are_taught_together(manyclass, service, write):
    files = (write("part1"), write("part2"))
    result = manyclass("learn", *files, "--url", service, "--batch", "parts", "--per-request", 1)
    assert "learned 6 in" in result.stderr


def test_many_events_of_a_batch_are_not_all_counted(manyclass, service, write, monkeypatch):
    monkeypatch.setattr(taught_batches, "MOST_COUNTED", 2)
    manyclass("learn", file := write("many"), "--url", service)
    refused = manyclass("learn", file, "--url", service, exit_code=1)
    assert "has more than 2 events of the batch" in refused.stderr


def test_lines_with_an_event_id_or_a_batch_may_be_sent_again(manyclass, service, tmp_path):
    file = tmp_path / "ids.jsonl"
    file.write_text(
        lines(
            {"text": "x", "classes": ["ids"], "event_id": "ids 1"},
            {"text": "x", "classes": ["ids"], "batch": "its own"},
        )
    )
    for _ in range(2):
        result = manyclass("learn", file, "--url", service)
    assert "learned 1, skipped 1 duplicate, in" in result.stderr


def test_what_a_command_sends_itself_was_not_taught_before(manyclass, service, tmp_path):
    file = tmp_path / "half.jsonl"
    with_id = {"text": "x", "classes": ["half"], "event_id": "half 1"}
    file.write_text(lines(with_id, {"text": "x", "classes": ["half"]}))
    given = ("learn", file, "--url", service, "--per-request", 1)
    assert "learned 2 in" in manyclass(*given).stderr
    refused = manyclass(*given, exit_code=1)
    assert "has 2 events of the batch 'half.jsonl'" in refused.stderr
    assert "learned 0, skipped 1 duplicate, in" in refused.stderr
    assert learned(service, "half") == {"half": 2}


def test_a_batch_is_looked_up_before_any_is_sent_if_its_first_line_is_bad(
    manyclass, service, write
):
    fresh, file = write("before"), write("behind")
    file.write_text("{bad\n" + file.read_text())
    manyclass("learn", file, "--url", service, exit_code=1)
    refused = manyclass("learn", fresh, file, "--per-request", 1, "--url", service, exit_code=1)
    assert "has 3 events of the batch 'behind.jsonl'" in refused.stderr
    assert learned(service, "before") == {}


def test_the_commands_of_a_message_are_quoted_for_the_shell(manyclass, service, write):
    manyclass("learn", file := write("it's $HOME"), "--url", service)
    refused = manyclass("learn", file, "--url", service, exit_code=1)
    assert """ --batch 'it'"'"'s $HOME.jsonl'` takes them back""" in refused.stderr


def test_a_file_named_as_standard_input_is_not_read(manyclass, service, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").touch()
    input = tmp_path / "input.jsonl"
    input.write_text(lines(*events("dash", 3)))
    command = [sys.executable, "-m", "manyclass", "learn", "-", "--url", service]
    with input.open() as opened:
        done = subprocess.run(command, stdin=opened, capture_output=True, text=True, check=True)
    assert "learned 3 in" in done.stderr
    with Client(service) as client:
        assert [each.source for each in client.events(of_class="dash0")] == [None]


def test_without_history_a_batch_cannot_be_looked_up(manyclass, write):
    with new_service(history=False) as url:
        for _ in range(2):
            result = manyclass("learn", write("unkept"), "--url", url)
        assert learned(url, "unkept") == {"unkept0": 2, "unkept1": 2, "unkept2": 2}
    assert "the service keeps no history, which would tell whether" in result.stderr
    assert "'unkept.jsonl'" in result.stderr


def interrupted_at(call, error):
    """Return learn_many with an error at this call."""
    learn_many, calls = Client.learn_many, []

    def interrupted(self, batch, **options):
        calls.append(batch)
        if len(calls) == call:
            raise error
        return learn_many(self, batch, **options)

    return interrupted


@pytest.mark.parametrize(
    ("error", "exit_code"), [(KeyboardInterrupt(), 130), (ServiceUnreachable("there", "gone"), 3)]
)
def test_an_interrupted_run_goes_on_behind_the_last_line(
    manyclass, service, write, monkeypatch, error, exit_code
):
    name = f"cut{exit_code}"
    first, second = write(f"{name}a", 10), write(f"{name}b", 10)
    with monkeypatch.context() as patched:
        patched.setattr(Client, "learn_many", interrupted_at(4, error))
        given = ("learn", first, second, "--url", service, "--per-request", 5)
        stopped = manyclass(*given, exit_code=exit_code)
    assert (
        f"manyclass: {second}:5 is the last acknowledged line; up to 5 lines after it may be"
        f" learned too (`manyclass events list --batch {second.name} --limit 1` shows the"
        f" newest). To continue, add --skip 5, and {second} as the first file\n"
    ) in stopped.stderr
    assert f"{'stopped: ' if exit_code == 130 else ''}learned 15 in" in stopped.stderr
    assert "Traceback" not in stopped.output
    assert sum(learned(service, name).values()) == 15
    refused = manyclass("learn", second, "--url", service, exit_code=1)
    assert f"5 events of the batch '{second.name}'" in refused.stderr
    assert "learned 5 in" in manyclass("learn", second, "--url", service, "--skip", 5).stderr
    assert sum(learned(service, name).values()) == 20


def test_rows_of_a_table_are_skipped_by_their_line(manyclass, service, tmp_path):
    file = tmp_path / "skipped.csv"
    file.write_text('text,label\nice,skip-a\n"two\nlines",skip-b\npuck,skip-c\n')
    assert "learned 1 in" in manyclass("learn", file, "--url", service, "--skip", 3).stderr
    assert learned(service, "skip-") == {"skip-c": 1}


def test_bad_lines_behind_those_that_are_skipped_are_left_out(manyclass, service, tmp_path):
    file = tmp_path / "bad-behind.jsonl"
    file.write_text(lines(*events("skipped", 3)) + "{\n" * 20 + lines(*events("behind", 3)))
    given = ("learn", file, "--url", service, "--skip", 3)
    assert "learned 3, skipped 20 invalid rows, in" in manyclass(*given, exit_code=1).stderr
    assert learned(service, "skipped") == {}


# --- faults ---------------------------------------------------------------------------------------


def test_bad_lines_are_named_and_the_rest_is_learned(manyclass, service):
    body = lines(*events("some", 3)) + "{\n" + lines({"text": "x", "classes": [""]})
    body += lines({"features": {"f": -1e300}, "classes": ["some0"]}, *events("some", 3))
    body += lines({"features": {"": 1}, "classes": ["some0"]})
    result = manyclass("learn", "-", "--url", service, input=body, exit_code=1)
    named = [line for line in result.stderr.splitlines() if "standard input:" in line]
    assert [line.split(":")[2] for line in named] == ["4", "5", "6", "10"]
    assert "4 invalid rows" in result.stderr
    assert sum(learned(service, "some").values()) == 6


def test_rows_of_a_data_set_are_learned_when_their_other_keys_may_be_ignored(manyclass, service):
    row = {"id": "row 1", "split": "train", "classes": ["data"], "text": "a row"}
    refused = manyclass("learn", "-", "--url", service, input=lines(row), exit_code=1)
    assert "`id`, `split` cannot be used here" in refused.stderr
    manyclass("learn", "-", "--url", service, "--ignore-unknown", input=lines(row))
    assert learned(service, "data") == {"data": 1}


def test_an_event_learned_before_is_counted_as_such(manyclass, service):
    body = lines({"text": "x", "classes": ["twice"], "event_id": "twice 1"})
    manyclass("learn", "-", "--url", service, input=body)
    result = manyclass("learn", "-", "--url", service, input=body)
    assert "learned 0, skipped 1 duplicate, in" in result.stderr
    assert "R1" not in result.stderr
    assert learned(service, "twice") == {"twice": 1}


def test_a_late_label_by_id(manyclass, service):
    manyclass("rank", "-", "--url", service, input='{"text": "late", "id": "late 1"}')
    body = lines({"id": "late 1", "classes": ["late"]}, {"id": "never", "classes": ["late"]})
    result = manyclass("learn", "-", "--url", service, input=body, exit_code=1)
    assert "standard input:2: No instance was ranked" in result.stderr
    assert learned(service, "late") == {"late": 1}


def test_a_label_by_id_keeps_its_origin_and_is_replaced_on_request(manyclass, tmp_path):
    with new_service() as url, Client(url) as client:
        given = [{"text": "a dark lamp", "id": "m-1", "source": "Ann"}]
        client.give_for_review(given, batch="letters.xlsx")
        labels = tmp_path / "labels.jsonl"
        labels.write_text(lines({"id": "m-1", "classes": ["lamp"]}))
        manyclass("learn", labels, "--reviewer", "anna", "--url", url)
        [event] = client.events()
        assert (event.source, event.batch, event.reviewer) == ("Ann", "letters.xlsx", "anna")
        again = manyclass("learn", labels, "--url", url)  # the file has no batch to be refused
        assert "skipped 1 duplicate" in again.stderr
        labels.write_text(lines({"id": "m-1", "classes": ["lamps"]}))
        refused = manyclass("learn", labels, "--reviewer", "ben", "--url", url, exit_code=1)
        assert "was labelled 'lamp' by 'anna'" in refused.stderr
        manyclass(
            *("learn", "-", "--reviewer", "ben", "--url", url),
            input=lines({"id": "m-1", "classes": ["lamps"], "replace": True}),
        )
        [event] = client.events()
        assert (event.classes, event.reviewer) == (("lamps",), "ben")


def test_a_given_reviewer_is_that_of_events_without_one(manyclass):
    with new_service() as url, Client(url) as client:
        some = lines(
            {"text": "x", "classes": ["a"]}, {"text": "y", "classes": ["b"], "reviewer": "ben"}
        )
        manyclass("learn", "-", "--reviewer", "anna", "--url", url, input=some)
        assert [each.reviewer for each in client.events()] == ["ben", "anna"]


@pytest.mark.parametrize("missing", ["missing", "missing.csv", "missing.jsonl.gz"])
def test_nothing_is_learned_or_said_to_be_if_a_file_is_missing(
    manyclass, service, tmp_path, missing
):
    there = tmp_path / "there.jsonl"
    there.write_text(lines(*events("there", 3)))
    result = manyclass("learn", there, tmp_path / missing, "--url", service, exit_code=1)
    assert result.stderr == f"manyclass: {tmp_path / missing}: No such file or directory\n"
    assert learned(service, "there") == {}


def test_a_dry_run_shows_what_would_be_taught_and_asks_no_service(manyclass, nobody, tmp_path):
    table = tmp_path / "letters.csv"
    rows = [("a", "Lamps"), ("b", "lamps"), ("c", "Lamps"), ("d", "lampes"), ("e", "x; y")]
    rows += [("f", ""), ("", "Lamps"), ("g", "nan")]
    table.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    shown = manyclass("learn", table, "--dry-run", "--url", nobody, exit_code=1)
    assert shown.stdout.splitlines() == [
        "6 rows to teach: 5 classes, 1 cell with `;`, 1 row without a class, 1 rejected row,"
        " 2 near-duplicates",
        "classes: 'Lamps' (2), 'lamps' (1), 'lampes' (1), 'x; y' (1), 'nan' (1)",
        "may stand for an empty cell (--leave-out): 'nan' (1)",
        "cells with `;` may have several classes (--class-separator): 'x; y'",
        "the same but for the spelling: 'Lamps' (2), 'lamps' (1)",
        "close: 'Lamps' (2), 'lampes' (1)",
        "correct them in the file if they are one class, or merge them afterwards:"
        " `manyclass classes merge`, or `manyclass classes apply` with a table",
    ]
    assert "letters.csv:7: no class: label is empty" in shown.stderr
    clean = manyclass(
        "learn", "-", "--dry-run", "--url", nobody, input='{"text": "a", "classes": ["b"]}\n'
    )
    assert clean.stdout == "1 row to teach: 1 class\nclasses: 'b' (1)\n"
