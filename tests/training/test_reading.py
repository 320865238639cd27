import gzip
import json

import pytest

from manyclass.training.formats import FormatUnknown
from manyclass.training.lines import FileFault, Source
from manyclass.training.reading import read


def write(path, *bodies):
    path.write_text("".join(json.dumps(body) + "\n" for body in bodies))
    return Source(str(path))


def test_files_of_several_formats_make_rows_of_one_set_of_names(tmp_path):
    first = write(tmp_path / "a.jsonl", {"features": ["x", "x", "3"], "classes": ["a", "a", 7]})
    (tmp_path / "b.libsvm.gz").write_bytes(gzip.compress(b"7 3:0.5\n"))
    rows, account = read([first, Source(str(tmp_path / "b.libsvm.gz"))])
    assert [*rows] == [({"x": 2.0, "3": 1.0}, ["a", "7"]), ({"3": 0.5}, ["7"])]
    assert (rows.features, rows.classes) == (["x", "3"], ["a", "7"])
    assert (account.instances, account.rejected, account.values_left_out) == (2, 0, 0)


def test_a_format_that_is_given_holds_for_all_files(tmp_path):
    (tmp_path / "train.txt").write_text("a | x\n")
    rows, _ = read([Source(str(tmp_path / "train.txt"))], "vw")
    assert [*rows] == [({"x": 1.0}, ["a"])]


def test_lines_the_service_would_refuse_are_rejected_by_number(tmp_path):
    source = write(
        tmp_path / "a.jsonl",
        {"features": {"f": 1}, "classes": ["a"]},
        {"features": {"": 1}, "classes": ["a"]},
        {"features": {"f": 1e300}, "classes": ["a"]},
        {"features": {"f": 1}, "classes": []},
        {"features": {"f": 1}, "classes": [""]},
        {"features": ["x" * 70_000], "classes": ["a"]},
        {"features": {"new": 1}, "classes": ["b"]},
    )
    rejected_lines, moved = [], []
    rows, account = read(
        [source], None, rejected_lines.append, lambda now: moved.append(now.instances)
    )
    assert [*rows] == [({"f": 1.0}, ["a"]), ({"new": 1.0}, ["b"])]
    assert [each.line.number for each in rejected_lines] == [2, 3, 4, 5, 6]
    assert all(each.reason for each in rejected_lines)
    assert (account.instances, account.rejected) == (2, 5)
    assert moved == [1, 1, 1, 1, 1, 1, 2]


def test_values_of_0_are_left_out_and_counted(tmp_path):
    source = write(
        tmp_path / "a.jsonl", {"features": {"f": -0.0, "g": 0, "h": 2}, "classes": ["a"]}
    )
    rows, account = read([source])
    assert [*rows] == [({"h": 2.0}, ["a"])]
    assert rows.features == ["h"]
    assert (account.values_left_out, account.values_below_0) == (2, 0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"features": {"1": -1, "2": 0, "3": 2}, "classes": ["4"]}'),
        ("a.libsvm", "4 1:-1 2:0 3:2"),
        ("a.xmc", "1 5 5\n4 1:-1 2:0 3:2"),
        ("a.vw", "4 | 1:-1 2:0 3:2"),
        ("a.vw", "4 |:-1 1 2:0 3:-2"),
    ],
)
def test_values_below_0_are_read_and_counted(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content + "\n")
    rows, account = read([Source(str(file))])
    assert [*rows] == [({"1": -1.0, "3": 2.0}, ["4"])]
    assert (account.values_left_out, account.values_below_0) == (1, 1)


def test_no_file_is_read_when_one_has_no_format(tmp_path):
    with pytest.raises(FormatUnknown):
        read([Source(str(tmp_path / "missing.vw")), Source("a.txt")])
    with pytest.raises(FormatUnknown):
        read([Source(str(tmp_path / "missing.vw"))], "arff")
    with pytest.raises(FileFault, match="No such file"):
        read([Source(str(tmp_path / "missing.vw"))])


def test_the_instances_of_the_rows_are_handed_over_as_they_were_written(tmp_path):
    bodies = ({"text": "A  puck", "classes": ["a"]}, {"text": "b"}, {"text": "c", "classes": ["c"]})
    given = []
    rows, _ = read([write(tmp_path / "a.jsonl", *bodies)], accepted=given.append)
    assert [(each.line.number, each.text) for each in given] == [(1, "A  puck"), (3, "c")]
    assert len(rows) == 2


def test_the_fields_of_a_text_have_features_apart(tmp_path):
    source = write(
        tmp_path / "a.jsonl",
        {"text": {"title": "Ice hockey", "body": "ice"}, "classes": ["a"]},
        {"text": {}, "classes": ["a"]},
        {"text": {f"f{at}": "ice" for at in range(17)}, "classes": ["a"]},
        {"text": {"": "ice"}, "classes": ["a"]},
        {"text": "ice", "classes": ["b"]},
    )
    refused = []
    rows, _ = read([source], rejected=refused.append)
    titled = {"title:ice": 1.0, "title:hockey": 1.0, "title:ice hockey": 1.0, "body:ice": 1.0}
    assert [*rows] == [(titled, ["a"]), ({"ice": 1.0}, ["b"])]
    assert [each.line.number for each in refused] == [2, 3, 4]
    assert "1 to 16 fields, not 0" in refused[0].reason
    assert "1 to 16 fields, not 17" in refused[1].reason


def test_texts_with_words_that_are_left_out_are_counted_with_the_first_line(tmp_path):
    long = "x" * 5000
    source = write(
        tmp_path / "a.jsonl",
        {"text": "ice", "classes": ["a"]},
        {"text": {"title": "a puck", "body": long}, "classes": ["a"]},
        {"text": f"ice {long}", "classes": []},
        {"text": f"ice {long} {long}", "classes": ["a"]},
    )
    rows, account = read([source])
    assert [len(instance) for instance, _ in rows] == [1, 3, 1]
    assert (account.cut_texts, account.first_cut) == (2, f"{tmp_path}/a.jsonl:2")


def test_a_weight_that_no_event_has_is_refused(tmp_path):
    source = write(
        tmp_path / "a.jsonl",
        {"text": "ice", "classes": ["a"], "weight": 2},
        {"text": "ice", "classes": ["a"], "weight": 0},
    )
    refused = []
    rows, _ = read([source], rejected=refused.append)
    assert [*rows.weights] == [2]
    assert [each.line.number for each in refused] == [2]
