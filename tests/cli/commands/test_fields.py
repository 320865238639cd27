"""Texts of fields from files to a service and back, and texts that are cut."""

import csv
import json
import re
import shlex

import pytest

from tests.service.serving import serving

FIELDS = {"title": "Ice hockey", "body": "The goalie saved it"}
TABLE = "title,body,label\nA serve,an ace,tennis\nA drive,,golf\n"
LONG = "x" * 5000


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with serving(store=f"sqlite:{tmp_path_factory.mktemp('store')}/events.db") as served:
        yield served.url


def lines(*bodies):
    return "".join(json.dumps(body) + "\n" for body in bodies)


def test_fields_are_taught_listed_exported_and_trained(manyclass, url, tmp_path):
    line = lines({"text": FIELDS, "classes": ["hockey"]})
    assert "learned 1 in" in manyclass("learn", "-", "--url", url, input=line).stderr
    table = tmp_path / "rows.csv"
    table.write_text(TABLE)
    columns = ("--text-column", "title", "--text-column", "body", "--class-column", "label")
    manyclass("learn", table, "--url", url, *columns, "--fields")
    listed = manyclass("events", "list", "--url", url, "--class", "hockey").stdout
    assert "\ttitle: Ice hockey  body: The goalie saved it\n" in listed

    exported = manyclass("export", "--events", "--url", url).stdout
    texts = [json.loads(each)["text"] for each in exported.splitlines()]
    assert texts == [FIELDS, {"title": "A serve", "body": "an ace"}, {"title": "A drive"}]
    file = tmp_path / "events.jsonl"
    file.write_text(exported)
    manyclass("train", file, "--out", tmp_path / "of_events")
    features = manyclass("export", tmp_path / "of_events").stdout
    assert "title:hockey" in features
    assert "body:an ace" in features

    result = manyclass("rank", "-", "--url", url, "--explain", input=lines({"text": FIELDS}))
    votes = json.loads(result.stdout)["ranked"][0]["features"]
    assert {"title:hockey", "body:goalie"} <= {each["feature"] for each in votes}


def test_a_field_that_is_null_has_an_empty_cell_in_a_ranked_table(manyclass, url, tmp_path):
    out = tmp_path / "out.csv"
    given = lines({"text": {"title": "A drive", "body": None}}, {"text": FIELDS})
    manyclass("rank", "-", "--url", url, "--out", out, "-k", 1, input=given)
    rows = [*csv.DictReader(out.read_text().splitlines())]
    assert [(row["title"], row["body"]) for row in rows] == [
        ("A drive", ""),
        (FIELDS["title"], FIELDS["body"]),
    ]


def test_a_ranked_table_keeps_its_columns(manyclass, url, tmp_path):
    table, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    table.write_text(TABLE)
    columns = ("--text-column", "title", "--text-column", "body", "--fields", "--out", out)
    result = manyclass("rank", table, "--url", url, *columns)
    assert out.read_text().splitlines()[1].startswith("A serve,an ace,tennis,")
    assert "reads them" not in result.stderr


def reading(result):
    """Return the options that the command says to read the fields with."""
    [said] = re.findall("has a column of its own: (.*) reads them", result.stderr)
    return shlex.split(said)


def table_of(file):
    with file.open(newline="") as opened:
        return [*csv.reader(opened)]


def texts_of(manyclass, url, batch):
    listed = manyclass("events", "list", "--batch", batch, "--oldest", "--url", url, "--json")
    return [json.loads(each)["text"] for each in listed.stdout.splitlines()]


LATE = [{"title": f"Ice hockey {at}", "body": 'a "puck",\nand ice'} for at in range(5)]
LATE = [*LATE, {"title": "=1+1", "my note; x": "ä"}, {"body": "{}"}, {"id": "7", "text": "a"}]


@pytest.mark.parametrize("batch", [1, 200])
@pytest.mark.parametrize("is_table", [False, True], ids=["lines", "a table of their keys"])
def test_ranked_fields_are_taught_again_as_they_were(manyclass, url, tmp_path, batch, is_table):
    file, out = tmp_path / "in.jsonl", tmp_path / f"ranked-{batch}-{is_table}.csv"
    more = {"meta": {"by": "x"}, "marks": ["a", "b"]} if is_table else {}
    file.write_text(lines(*({"text": text, **more} for text in LATE)))
    columns = ["--text-column", "text"] if is_table else []
    manyclass("learn", "-", "--url", url, input=lines({"text": LATE[0], "classes": ["ice"]}))
    options = ("--url", url, "--out", out, "-k", 1, "--per-request", batch)
    read = reading(manyclass("rank", file, *columns, *options))
    header, *rows = table_of(out)
    names = ["title", "body", "my note; x", "id", "text"]
    before, behind = ([], ["meta", "marks"]) if is_table else (["id"], ["features"])
    assert header == [*before, *names, *behind, "confidence", "class_1", "score_1"]
    assert rows[5][len(before) :][:5] == ["=1+1", "", "ä", "", ""]
    assert not is_table or rows[0][5:7] == ['{"by":"x"}', '["a","b"]']

    refused = manyclass("learn", out, "--url", url, exit_code=2).stderr
    assert "--class-column class_1, and --fields to keep title, body and text apart" in refused
    for row in rows:
        row[-2] = "ice"
    with out.open("w", newline="") as opened:
        csv.writer(opened).writerows([header, *rows])
    manyclass("learn", out, "--url", url, *read, "--class-column", "class_1")
    assert texts_of(manyclass, url, out.name) == LATE


def test_texts_with_and_without_fields_are_in_columns_of_their_own(manyclass, url, tmp_path):
    out = tmp_path / "out.csv"
    body = lines({"text": "an ace", "id": "1"}, {"text": FIELDS, "id": "2"})
    result = manyclass("rank", "-", "--url", url, "--out", out, "-k", 1, input=body)
    header, *rows = table_of(out)
    assert header[:5] == ["id", "text", "title", "body", "features"]
    assert [row[:5] for row in rows] == [
        ["1", "an ace", "", "", ""],
        ["2", "", *FIELDS.values(), ""],
    ]
    assert "reads them; texts without fields are in column text" in result.stderr


@pytest.mark.parametrize("command", ["learn", "rank", "report"])
@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_fields_without_their_columns_are_refused(manyclass, command, name, tmp_path):
    file = tmp_path / name
    file.write_text(TABLE)
    result = manyclass(command, file, "--fields", exit_code=2)
    said = " ".join(result.stderr.split())
    assert "name the column of each field" in said
    assert ("lines of" in said) == name.endswith(".jsonl")


OF_KEYS = ("--text-column", "title", "--text-column", "body", "--class-column", "label")
OF_TEXT = ("--text-column", "text", "--class-column", "label")
ROWS = [({"title": "A serve", "body": "an ace"}, "tennis"), ({"body": "A drive"}, "golf")]


def test_keys_of_lines_become_fields_and_objects_of_texts_are(manyclass, tmp_path):
    keys, texts, states = tmp_path / "keys.jsonl", tmp_path / "texts.jsonl", []
    keys.write_text(lines(*({**text, "label": label} for text, label in ROWS)))
    texts.write_text(lines(*({"text": text, "label": label} for text, label in ROWS)))
    given = [(keys, *OF_KEYS, "--fields"), (texts, *OF_TEXT), (texts, *OF_TEXT, "--fields")]
    for options in given:
        manyclass("train", *options, "--out", tmp_path / "state")
        states.append(manyclass("export", tmp_path / "state").stdout)
        assert "read 2 instances" in manyclass("evaluate", *options, "--progressive").stderr
    assert "title:serve" in states[0]
    assert states[0] == states[1] == states[2]


def test_lines_of_fields_and_a_label_are_taught_as_the_message_says(manyclass, url, tmp_path):
    file = tmp_path / "texts.jsonl"
    file.write_text(lines(*({"text": text, "label": label} for text, label in ROWS)))
    refused = manyclass("learn", file, "--url", url, exit_code=1).stderr
    assert f"the keys text, label: add {' '.join(OF_TEXT)}\n" in refused
    manyclass("learn", file, "--url", url, *OF_TEXT)
    assert texts_of(manyclass, url, file.name) == [ROWS[0][0], ROWS[1][0]]


def test_a_row_of_too_many_fields_is_refused_alone(manyclass, url, tmp_path):
    names = [f"f{at}" for at in range(17)]
    file = tmp_path / "many.csv"
    file.write_text(f"{','.join(names)},label\n{'x,' * 17}a\n{'x,' * 16},a\n")
    columns = (each for name in names for each in ("--text-column", name))
    options = (*columns, "--fields", "--class-column", "label")
    for command in (["train", file, "--out", tmp_path / "state"], ["learn", file, "--url", url]):
        result = manyclass(*command, *options, exit_code=1)
        assert f"{file}:2: a text has 1 to 16 fields, not 17" in result.stderr
    assert len(texts_of(manyclass, url, file.name)[0]) == 16


@pytest.mark.parametrize("command", ["train", "report"])
def test_texts_with_words_left_out_are_said_once(manyclass, command, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(
        lines(
            {"text": "ice", "classes": ["a"]},
            {"text": f"puck {LONG}", "classes": ["b"]},
            {"text": {"body": f"{LONG} ball"}, "classes": ["b"]},
            {"text": "ice puck", "classes": ["a"]},
        )
    )
    options = ("--out", tmp_path / "state") if command == "train" else ("--folds", 2)
    said = manyclass(command, file, *options).stderr
    assert said.count("longer than 4,096 bytes") == 1
    assert (
        f"2 texts with words longer than 4,096 bytes, which are left out; the first: {file}:2"
        in said
    )


def test_warnings_of_the_service_about_lines_are_said_once(manyclass, url, tmp_path):
    file = tmp_path / "cut.jsonl"
    cut = f"puck {LONG}"
    texts = ["ice", cut, "ice puck", cut, "?"]
    file.write_text(lines(*({"text": text, "classes": ["a"]} for text in texts)))
    said = manyclass("learn", file, "--url", url, "--per-request", 3).stderr
    about = (
        "A word of the text is longer than a name may be (4096 bytes, with its field)"
        " and is left out."
    )
    assert f"warning about 2 lines, the first {file}:2: {about}" in said
    assert f"warning about {file}:5: The text has no words." in said
    file.write_text(lines({"text": cut}, {"text": "ice"}))
    assert f"warning about {file}:1: {about}" in manyclass("rank", file, "--url", url).stderr


def test_texts_of_too_many_features_are_said(manyclass, tmp_path):
    with serving(max_features_per_instance=5) as served:
        line = lines({"text": "one two three four five", "classes": ["a"]})
        said = manyclass("learn", "-", "--url", served.url, input=line).stderr
    assert "warning about standard input:1: The text has more features than an instance may" in said
