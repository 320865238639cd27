import json

from manyclass.client.client import Client


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
    result = manyclass("learn", first, second, "--url", service, "--batch", 7)
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


def test_bad_lines_are_named_and_the_rest_is_learned(manyclass, service):
    body = lines(*events("some", 3)) + "{\n" + lines({"text": "x", "classes": [""]})
    body += lines({"features": {"f": -1e300}, "classes": ["some0"]}, *events("some", 3))
    body += lines({"features": {"": 1}, "classes": ["some0"]})
    result = manyclass("learn", "-", "--url", service, input=body, exit_code=1)
    complaints = [line for line in result.stderr.splitlines() if line.startswith("manyclass: ")]
    assert [line.split(":")[2] for line in complaints] == ["4", "5", "10"]
    assert "3 bad lines left out" in result.stderr
    assert sum(learned(service, "some").values()) == 7


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
    assert "1 duplicate among them" in result.stderr
    assert "R1" not in result.stderr
    assert learned(service, "twice") == {"twice": 1}


def test_a_late_label_by_id(manyclass, service):
    manyclass("rank", "-", "--url", service, input='{"text": "late", "id": "late 1"}')
    body = lines({"id": "late 1", "classes": ["late"]}, {"id": "never", "classes": ["late"]})
    result = manyclass("learn", "-", "--url", service, input=body, exit_code=1)
    assert "standard input:2: No instance was ranked" in result.stderr
    assert learned(service, "late") == {"late": 1}


def test_a_file_that_is_missing_does_not_keep_the_others_from_being_learned(
    manyclass, service, tmp_path
):
    there = tmp_path / "there.jsonl"
    there.write_text(lines(*events("there", 3)))
    result = manyclass("learn", tmp_path / "missing", there, "--url", service, exit_code=1)
    assert "missing: No such file or directory" in result.stderr
    assert sum(learned(service, "there").values()) == 3


def test_ctrl_c_ends_with_what_was_done(manyclass, service, monkeypatch):
    learn_many = Client.learn_many
    calls = []

    def interrupted_at_the_third(self, batch, **options):
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return learn_many(self, batch, **options)

    monkeypatch.setattr(Client, "learn_many", interrupted_at_the_third)
    body = lines(*events("stopped", 30))
    result = manyclass("learn", "-", "--url", service, "--batch", 10, input=body, exit_code=130)
    assert "stopped: learned 20 in" in result.stderr
    assert "Traceback" not in result.output
    assert sum(learned(service, "stopped").values()) == 20
