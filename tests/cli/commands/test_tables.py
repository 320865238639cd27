"""CSV, spreadsheets and Parquet as arguments of each command that reads files."""

import codecs
import csv
import gzip
import json
import re
from io import BytesIO
from unittest.mock import Mock
from zipfile import ZipFile

import pytest

from manyclass.client.client import Client
from manyclass.client.errors import ServiceUnreachable
from manyclass.training.tables.spreadsheet import Workbook
from manyclass.training.vectors import vector_of_cell
from tests.cli.services import new_service
from tests.training.tables.files import write_parquet_file, write_spreadsheet
from tests.training.tables.notations import csv as as_csv
from tests.training.tables.workbooks import workbook

QUESTIONS = (
    "key,question,intent\n"
    '1,"where, please, is my card",{0}lost\n'
    "2,how do I top up,{0}top\n"
    '3,"I lost\nmy ""card""",{0}lost\n'
)


@pytest.fixture(scope="module")
def service():
    """Yield the URL of a service of this module's own, whose words other tests do not learn."""
    with new_service() as url:
        yield url


def learned(url, prefix):
    """Return the number of events of each class with this prefix, without the prefix."""
    with Client(url) as client:
        found = client.classes(prefix=prefix)
        return {each.name.removeprefix(prefix): each.learned for each in found}


def rows_of(file, delimiter=","):
    """Return the records of a CSV file."""
    with file.open(newline="") as opened:
        return list(csv.reader(opened, delimiter=delimiter))


@pytest.fixture
def questions(tmp_path):
    """Return a function that writes the questions, with classes of this prefix."""

    def write(prefix, name=None):
        file = tmp_path / (name or f"{prefix}questions.csv")
        file.write_text(QUESTIONS.format(prefix))
        return file

    return write


def test_learn_guesses_columns_and_says_so(manyclass, service, questions):
    result = manyclass("learn", questions("guess-"), "--url", service)
    assert "the text is in column `question`, the class is in column `intent`" in result.stderr
    assert "learned 3 in" in result.stderr
    assert learned(service, "guess-") == {"lost": 2, "top": 1}


def test_learn_takes_columns_and_an_id_that_is_learned_once(manyclass, service, questions):
    columns = ("--text-column", "question", "--class-column", "intent", "--id-column", "key")
    file = questions("ids-")
    for _ in range(2):
        result = manyclass("learn", file, "--url", service, *columns)
    assert "3 duplicates" in result.stderr
    assert "column" not in result.stderr
    assert learned(service, "ids-") == {"lost": 2, "top": 1}


@pytest.mark.parametrize("format", [None, "csv"])
def test_learn_takes_a_table_from_standard_input(manyclass, service, format):
    given = ("--format", format) if format else ("--text-column", "question")
    result = manyclass("learn", "-", "--url", service, *given, input=QUESTIONS.format("stdin-"))
    assert "learned 3 in" in result.stderr


@pytest.mark.parametrize("kind", ["gz", "xlsx", "parquet", "jsonl"])
def test_learn_takes_each_kind_of_table(manyclass, service, tmp_path, kind):
    file = tmp_path / f"table.{kind}"
    columns = ["--text-column", "text", "--class-column", "label"]
    if kind == "gz":
        file = tmp_path / "table.csv.gz"
        file.write_bytes(gzip.compress(b"text;label\nice;gz-a\npuck;gz-b\n"))
    elif kind == "xlsx":
        write_spreadsheet(file, [["text", "label"], ["ice", "xlsx-a"], ["puck", "xlsx-b"]])
    elif kind == "parquet":
        write_parquet_file(file, text=["ice", "puck"], label=["parquet-a", "parquet-b"])
    else:
        lines = [{"text": "ice", "label": "jsonl-a"}, {"text": "puck", "label": "jsonl-b"}]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    manyclass("learn", file, "--url", service, *columns)
    assert learned(service, f"{kind}-") == {"a": 1, "b": 1}


def test_bad_rows_are_named_and_left_out(manyclass, service, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("text,label\nice,rows-a\nsome, more,rows-b\nice,\n")
    result = manyclass("learn", file, "--url", service, exit_code=1)
    assert f"{file}:3: it has 3 cells, the header has 2" in result.stderr
    assert f"{file}:4: no class: label is empty" in result.stderr
    assert learned(service, "rows-") == {"a": 1}


def test_all_lines_behind_an_open_quote_are_counted(manyclass, service, tmp_path):
    file = tmp_path / "quote.csv"
    file.write_text('text,class\na,quote-1\n"b,quote-1\nc,quote-1\nd,quote-1\n')
    result = manyclass("learn", file, "--url", service, exit_code=1)
    assert "quote.csv:3: lines 3 to 5 are left out: the quote opened in line 3" in result.stderr
    assert "learned 1, skipped 3 invalid rows, in" in result.stderr
    report = manyclass("train", file, "--out", tmp_path / "out.snapshot", exit_code=1)
    assert "3 bad lines left out" in report.stderr


@pytest.mark.parametrize("command", ["learn", "train", "report", "evaluate", "fit", "rank"])
def test_columns_that_cannot_be_guessed_end_the_command_before_it_runs(
    manyclass, nobody, tmp_path, command
):
    good, unclear = tmp_path / "good.csv", tmp_path / "unclear.csv"
    good.write_text("text,label\nice,a\n")
    unclear.write_text("a,b,c\n7,some long text,x y\n")
    options = {
        "learn": ["--url", nobody],
        "rank": ["--url", nobody],
        "train": ["--out", tmp_path / "out"],
        "fit": ["--out", tmp_path / "out"],
    }
    result = manyclass(command, good, unclear, *options.get(command, []), exit_code=2)
    classes = " --class-column COLUMN; COLUMN is one of a (7), b (some long text), c (x y)"
    assert (
        f"{unclear}: this is a table with the columns a, b, c: add --text-column b"
        f"{'' if command == 'rank' else classes}\n" in result.stderr
    )
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


def test_a_wrong_column_lists_the_columns(manyclass, nobody, questions):
    given = ("--text-column", "questin", "--class-column", "intent")
    result = manyclass("learn", questions(""), "--url", nobody, *given, exit_code=2)
    assert "there is no column `questin`, the columns are key, question, intent" in result.stderr
    assert "did you mean `question`?" in result.stderr


def test_columns_are_not_of_other_formats(manyclass, tmp_path):
    file = tmp_path / "rows.vw"
    file.write_text("a | b\n")
    given = ("--text-column", "a", "--out", tmp_path / "out")
    assert "has no columns" in manyclass("train", file, *given, exit_code=2).stderr
    result = manyclass("learn", file, "--format", "vw", exit_code=2)
    assert "there are jsonl, csv, xlsx, parquet" in result.stderr


def test_train_report_and_evaluate_read_tables(manyclass, tmp_path):
    file = tmp_path / "table.csv"
    rows = [
        (f"ice puck {n}", "hockey") if n % 2 else (f"serve ball {n}", "tennis") for n in range(40)
    ]
    file.write_text("Body;Tag\n" + "".join(f"{text};{name}|sport\n" for text, name in rows))
    columns = ("--text-column", "Body", "--class-column", "Tag", "--class-separator", "|")
    result = manyclass("train", file, "--out", tmp_path / "out.snapshot", *columns)
    assert "read 40 instances" in result.stderr
    assert ": 3 classes" in result.stderr
    assert "tennis" in manyclass("report", file, *columns).stdout
    assert "svm" in manyclass("evaluate", file, *columns, "--splits", 1).stdout


def test_a_guess_is_said_once(manyclass, questions):
    result = manyclass(
        "evaluate", questions("", "train.csv"), "--test", questions(""), "--splits", 1
    )
    assert result.stderr.count("the text is in column") == 1


def test_lines_that_are_csv_are_recognised(manyclass, service, questions):
    file = questions("text-", "questions.txt")
    said = (
        "this looks like CSV with the columns key, question, intent: add --text-column question"
        " --class-column intent"
    )
    assert said in manyclass("learn", file, "--url", service, exit_code=1).stderr
    train = manyclass("train", file, "--format", "jsonl", "--out", file, exit_code=1)
    assert said in train.stderr
    ranked = manyclass("rank", file, "--url", service, exit_code=1)
    assert "add --text-column question\n" in ranked.stderr
    assert learned(service, "text-") == {}


@pytest.mark.parametrize("command", ["learn", "train"])
def test_a_wrong_format_stops_after_twenty_lines(manyclass, service, tmp_path, command):
    file = tmp_path / "words.jsonl"
    file.write_text("words\n" * 10_000)
    options = ["--url", service] if command == "learn" else ["--out", tmp_path / "out"]
    result = manyclass(command, file, *options, exit_code=1)
    assert result.stderr.count("words.jsonl:") == 21
    assert "words.jsonl: this looks like plain text" in result.stderr


def test_events_that_the_service_refuses_stop_after_twenty_too(manyclass, service, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"text": 5, "classes": ["a"]}\n' * 1000)
    result = manyclass("learn", file, "--url", service, exit_code=1)
    assert result.stderr.count("rows.jsonl:") == 20
    assert "the first 20 lines are refused; the others are not sent" in result.stderr


def test_other_files_are_read_after_one_of_a_wrong_format(manyclass, service, tmp_path, questions):
    words = tmp_path / "words.jsonl"
    words.write_text("words\n" * 100)
    result = manyclass("learn", words, questions("after-"), "--url", service, exit_code=1)
    assert "1 file not read to the end" in result.stderr
    assert learned(service, "after-") == {"lost": 2, "top": 1}


@pytest.mark.parametrize("command", ["learn", "rank", "train"])
def test_rejected_rows_of_the_console_are_named_at_once(manyclass, service, tmp_path, command):
    file = tmp_path / "rejected.jsonl"
    row = {"line": 7, "detail": "no class: intent is empty", "row": {"q": "a", "intent": ""}}
    file.write_text(f"{json.dumps(row)}\n" * 3)
    options = ["--out", tmp_path / "out"] if command == "train" else ["--url", service]
    result = manyclass(command, file, *options, exit_code=1)
    assert result.stderr.splitlines()[0] == (
        f"manyclass: {file}: this looks like rejected rows, which the page Import of the console"
        " saved: mend these rows of the file that they come from, and teach them as a file of"
        " their own"
    )
    assert result.stderr.count("rejected.jsonl") == 1


def test_one_array_of_json_is_read(manyclass, service, tmp_path):
    file = tmp_path / "array.json"
    file.write_text('[\n  {"text": "a", "classes": ["array"]},\n  {"text": "b"}\n]\n')
    result = manyclass("learn", file, "--url", service, exit_code=1)
    assert f"{file}: object 2: " in result.stderr
    assert "learned 1, skipped 1 row without a class, in" in result.stderr
    ranked = manyclass("rank", file, "--ignore-unknown", "--url", service)
    assert '"array"' in ranked.stdout


def test_an_array_of_texts_is_named_at_once(manyclass, service, tmp_path):
    file = tmp_path / "array.json"
    file.write_text('[\n  "a",\n  "b"\n]\n' * 100)
    result = manyclass("learn", file, "--url", service, exit_code=1)
    assert result.stderr.splitlines()[0] == (
        f"manyclass: {file}: this looks like an array of JSON, but not of objects: write one object"
        " a line"
    )
    assert result.stderr.count("array.json") == 1


@pytest.mark.parametrize("command", ["learn", "rank", "train", "report"])
def test_a_table_without_rows_says_so(manyclass, nobody, tmp_path, command):
    file = tmp_path / "table.csv"
    file.write_text("text,label\n")
    options = {"train": ["--out", tmp_path / "out"], "report": []}.get(command, ["--url", nobody])
    result = manyclass(command, file, *options, exit_code=2)
    assert f"{file}: it has a header and no rows (text, label)" in result.stderr


@pytest.mark.parametrize("command", ["learn", "rank"])
def test_without_a_service_no_row_is_read(manyclass, nobody, tmp_path, command):
    file = tmp_path / "lines.jsonl"
    file.write_text("words\n" * 30)
    result = manyclass(command, file, "--url", nobody, exit_code=3)
    assert result.stderr.startswith(f"manyclass: no answer from {nobody}")
    assert len(result.stderr.splitlines()) == 1


# --- results --------------------------------------------------------------------------------------


@pytest.fixture
def taught(service):
    with Client(service) as client:
        client.learn_many([{"text": "zebra stripes", "classes": ["z-zebra"]}] * 3)
        client.learn_many([{"text": "zebra crossing", "classes": ["z-road"]}])
    return service


def test_rank_writes_the_columns_of_the_input_and_the_classes(manyclass, taught, tmp_path):
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text('nr;text;note\n1;zebra stripes;"a;b"\n2;unseen;\n')
    result = manyclass("rank", file, "--url", taught, "--out", out, "-k", 2)
    assert result.stdout == ""
    header, first, second = rows_of(out, ";")
    expected = ["nr", "text", "note", "confidence", "class_1", "score_1", "class_2", "score_2"]
    assert header == expected
    assert first[:3] == ["1", "zebra stripes", "a;b"]
    assert (first[4], first[6]) == ("z-zebra", "z-road")
    confidence, high, low = (float(cell.replace(",", ".") or 0) for cell in first[3::2])
    assert high > low
    assert 0 <= confidence <= 1
    assert second[:3] == ["2", "unseen", ""]
    assert second[4:] == ["", "", "", ""]

    again = tmp_path / "again.tsv"
    manyclass("rank", out, "--url", taught, "--out", again, "-k", 1)
    assert rows_of(again, "\t")[0] == [*expected, "new_confidence", "new_class_1", "new_score_1"]


@pytest.fixture
def fresh():
    """Yield the URL of a service that has ranked nothing."""
    with new_service() as url:
        yield url


def waiting(url, *texts):
    """Return the ids of the ranked instances of these texts that wait for a label."""
    with Client(url) as client:
        found = client.review(100).instances
    return [each.id for each in found if each.text in texts]


@pytest.mark.parametrize(("last", "exit_code"), [("a row", 0), ("a,row,too long", 1)])
def test_rows_without_an_id_do_not_wait_for_a_label(manyclass, fresh, tmp_path, last, exit_code):
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text(f"text\nunlabelled one\nunlabelled two\n{last}\n")
    rank = ("rank", file, "--url", fresh)
    manyclass(*rank, "--out", out, "--per-request", 2, exit_code=exit_code)
    assert len(rows_of(out)) == 4 - exit_code
    assert waiting(fresh, "unlabelled one", "unlabelled two", "a row") == []
    printed = manyclass(*rank, exit_code=exit_code).stdout
    ids = [json.loads(line)["id"] for line in printed.splitlines()]
    assert set(waiting(fresh, "unlabelled one", "unlabelled two", "a row")) == set(ids)
    assert len(set(ids)) == 3 - exit_code


def test_a_service_that_ends_behind_the_last_row_leaves_the_results(
    manyclass, fresh, tmp_path, monkeypatch
):
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text("text\none\ntwo\n")
    monkeypatch.setattr(Client, "rank", Mock(side_effect=ServiceUnreachable(fresh, "gone")))
    manyclass("rank", file, "--url", fresh, "--out", out)
    assert len(rows_of(out)) == 3


NOTE = "for a label: `manyclass review` lists the least certain"


@pytest.mark.parametrize("out", [None, "ranked.csv", "ranked.jsonl"])
def test_the_end_says_how_many_rows_wait_and_how_to_leave_them_out(manyclass, fresh, tmp_path, out):
    table = tmp_path / "table.csv"
    table.write_text("nr,text\nw-1,said one\nw-2,said two\n,said three\n")
    asked = ("rank", table, "--text-column", "text", "--id-column", "nr", "--url", fresh)
    asked += () if out is None else ("--out", tmp_path / out)
    hidden = manyclass(*asked, "--no-review")
    assert NOTE not in hidden.stderr
    assert waiting(fresh, "said one", "said two", "said three") == []
    shown = manyclass(*asked)
    number = 2 if out == "ranked.csv" else 3
    assert f"{number} rows wait {NOTE}" in shown.stderr
    assert len(waiting(fresh, "said one", "said two", "said three")) == number
    if out is None:
        ids = [json.loads(line).get("id") for line in hidden.stdout.splitlines()]
        assert ids == ["w-1", "w-2", None]


def test_an_id_that_is_no_text_is_refused_also_without_review(manyclass, fresh, tmp_path):
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"text": "hidden one", "id": 5}\n{"text": "hidden two", "id": null}\n')
    done = manyclass("rank", lines, "--no-review", "--url", fresh, exit_code=1)
    assert "`id` must be a string" in done.stderr
    [ranked] = map(json.loads, done.stdout.splitlines())
    assert "id" not in ranked
    assert waiting(fresh, "hidden one", "hidden two") == []


def test_rows_with_an_id_wait_for_a_label(manyclass, fresh, tmp_path):
    file, lines, out = tmp_path / "in.csv", tmp_path / "in.jsonl", tmp_path / "out.csv"
    file.write_text("text,nr\nidentified one,id-1\nidentified two,\n")
    manyclass("rank", file, "--url", fresh, "--out", out, "--id-column", "nr")
    assert waiting(fresh, "identified one", "identified two") == ["id-1"]
    lines.write_text('{"text": "a line"}\n')
    manyclass("rank", lines, "--url", fresh, "--out", out)
    assert waiting(fresh, "a line") == [rows_of(out)[1][0]]


def test_any_cell_of_the_input_survives(manyclass, taught, tmp_path):
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    cells = ["zebra\r1", 'a "b"', "a,b", "a\nb", "=1+1", " ä "]
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([["text", "b", "c", "d", "e", "f"], cells])
    manyclass("rank", file, "--url", taught, "--out", out, "-k", 1)
    assert rows_of(out)[1][:6] == cells


def test_rank_writes_a_table_of_json_lines_too(manyclass, taught, tmp_path):
    out = tmp_path / "out.csv"
    body = '{"text": "zebra", "id": "one"}\n{"features": {"zebra": 2}, "id": "two"}\n'
    manyclass("rank", "-", "--url", taught, "--out", out, "-k", 1, input=body)
    header, first, second = rows_of(out)
    assert header == ["id", "text", "features", "confidence", "class_1", "score_1"]
    assert first[:3] == ["one", "zebra", ""]
    assert second[:3] == ["two", "", '{"zebra": 2}']
    assert first[4].startswith("z-")


def test_the_vectors_of_json_lines_are_in_the_table(manyclass, tmp_path):
    out = tmp_path / "out.csv"
    body = '{"text": {"a": "zebra"}, "id": "one"}\n{"vector": [0.5, -1], "id": "two"}\n'
    with new_service() as url:
        manyclass("rank", "-", "--url", url, "--out", out, "-k", 1, input=body)
        header, first, second = rows_of(out)
        assert header[:4] == ["id", "a", "features", "vector"]
        assert first[:4] == ["one", "zebra", "", ""]
        assert second[:3] == ["two", "", ""]
        assert vector_of_cell(second[3]).tolist() == [0.5, -1]
        read = ["--text-column", "a", "--vector-column", "vector"]
        manyclass("rank", out, *read, "--url", url, "--out", tmp_path / "again.csv")
    assert [row[:4] for row in rows_of(tmp_path / "again.csv")] == [
        row[:4] for row in (header, first, second)
    ]


def test_rank_writes_lines_of_json_to_a_file(manyclass, taught, tmp_path):
    file, out = tmp_path / "in.csv", tmp_path / "out.jsonl"
    file.write_text("text,nr\nzebra,seven\n")
    manyclass("rank", file, "--url", taught, "--out", out, "--id-column", "nr")
    [line] = map(json.loads, out.read_text().splitlines())
    assert line["id"] == "seven"
    assert line["ranked"]


def test_a_table_of_results_is_written_without_the_bad_rows(manyclass, taught, tmp_path):
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text("text\nzebra\na,b\nstripes\n")
    result = manyclass("rank", file, "--url", taught, "--out", out, exit_code=1)
    assert "in.csv:3:" in result.stderr
    assert [row[0] for row in rows_of(out)] == ["text", "zebra", "stripes"]


def test_an_older_file_stays_if_nothing_is_ranked(manyclass, taught, nobody, tmp_path):
    file, other, out = tmp_path / "in.csv", tmp_path / "in.txt", tmp_path / "out.csv"
    file.write_text("text\nzebra\n")
    other.write_text("no json\n" * 30)
    out.write_text("older")
    manyclass("rank", file, "--url", nobody, "--out", out, exit_code=3)
    manyclass("rank", other, "--url", taught, "--out", out, exit_code=1)
    assert out.read_text() == "older"
    assert not list(tmp_path.glob("*.part"))


def test_tables_of_other_columns_are_not_put_into_one(manyclass, taught, tmp_path):
    first, second, out = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "out.csv"
    first.write_text("text,x\nzebra,1\n")
    second.write_text("text,y\nzebra,1\n")
    result = manyclass("rank", first, second, "--url", taught, "--out", out, exit_code=2)
    assert f"{second}: its columns are not those of the first file" in result.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--out", "missing/out.csv"], "there is no folder"),
        (["--out", "out.csv.gz"], "name it .xlsx, .csv, .tsv or .jsonl"),
        (["--out", "out.ods"], "name it .xlsx, .csv, .tsv or .jsonl"),
        (["--out", "out.jsonl", "--bom"], "name a file .csv or .tsv with --out"),
        (["--out", "out.csv", "--explain"], "a table cannot hold features"),
    ],
)
def test_results_that_cannot_be_written_are_refused_at_once(manyclass, nobody, options, said):
    result = manyclass("rank", "in.csv", "--url", nobody, *options, exit_code=2)
    assert said in result.stderr


def test_a_column_has_the_source_and_the_file_is_the_batch(manyclass, service, tmp_path):
    file = tmp_path / "mails.csv"
    file.write_text("text,label,from\nlamp,own-a,anna\nbin,own-a,\n")
    manyclass("learn", file, "--source-column", "from", "--source", "mail", "--url", service)
    with Client(service) as client:
        events = [*client.events(of_class="own-a", oldest_first=True)]
        assert [(each.source, each.batch) for each in events] == [
            ("anna", "mails.csv"),
            ("mail", "mails.csv"),
        ]
    file.write_text("nr,text,from\nlamp,a lamp,anna\nbin,a bin,\n")
    manyclass("rank", file, "--source-column", "from", "--id-column", "nr", "--url", service)
    with Client(service) as client:
        waiting = {each.id: each.source for each in client.review(50).instances}
    assert (waiting["lamp"], waiting["bin"]) == ("anna", None)
    refused = manyclass("learn", file, "--source-column", "who", "--url", service, exit_code=2)
    assert "there is no column `who`" in refused.stderr


@pytest.mark.parametrize("name", ["book.xlsx", "windows.csv", "bare.csv", "years.csv"])
def test_a_file_of_an_office_is_taught(manyclass, service, tmp_path, name):
    """Each to a right count of classes, with no row lost."""
    rows = [["Wo ist meine Karte, bitte schön?", 2136], ["Müll", "007"], ["Wo ist die Tür?", 2136]]
    table = [["Anliegen", "Sparte"], *rows]
    contents = {
        "book.xlsx": workbook([["other"]], table),
        "windows.csv": as_csv(*[map(str, row) for row in table], delimiter=";", encoding="cp1252"),
        "bare.csv": as_csv(*[map(str, row) for row in rows]),
        "years.csv": as_csv(["2024", "2023"], *[map(str, row) for row in rows]),
    }
    options = {
        "book.xlsx": ("--sheet", "S2", "--text-column", "Anliegen", "--class-column", "Sparte"),
        "windows.csv": ("--text-column", "Anliegen", "--class-column", "Sparte"),
        "bare.csv": ("--text-column", "1", "--class-column", "2"),
        "years.csv": ("--text-column", "2024", "--class-column", "2023"),
    }
    file = tmp_path / name
    file.write_bytes(contents[name])
    result = manyclass("learn", file, *options[name], "--url", service)
    assert "learned 3 in" in result.stderr
    assert ("is read as cp1252: `" in result.stderr) is (name == "windows.csv")
    with Client(service) as client:
        events = [*client.events(batch=name, oldest_first=True)]
    assert [each.classes for each in events] == [("2136",), ("007",), ("2136",)]
    assert events[0].text == rows[0][0]


SIGNS = ["=1+1", "+49 30", "-2+3", "@home", "007", "a\nb", "ü", "\x01", "x" * 40_000]


def test_results_are_written_for_excel(manyclass, service, tmp_path):
    file, out = tmp_path / "in.csv", tmp_path / "out.xlsx"
    file.write_bytes(as_csv(["question", "nr"], *([sign, "1"] for sign in SIGNS)))
    manyclass("learn", "-", "--url", service, input='{"text": "home", "classes": ["=cell"]}\n')
    result = manyclass("rank", file, "--text-column", "question", "--out", out, "--url", service)
    assert "1 cell of more than 32,767 letters, which Excel cannot hold" in result.stderr
    [header, *rows] = Workbook(BytesIO(out.read_bytes())).rows("Sheet1")
    assert header[:5] == ["question", "nr", "confidence", "class_1", "score_1"]
    assert [row[0] for row in rows] == [sign[:32_767] for sign in SIGNS]
    [home] = [row for row in rows if row[0] == "@home"]
    assert home[3] == "=cell"
    assert float(home[4]) > 0
    with ZipFile(out) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet  # no formula
    assert re.search(rb'<c r="E\d+"><v>[\d.]+</v>', sheet)  # the score is a number


def test_a_byte_order_mark_is_written_on_request(manyclass, service, tmp_path):
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text("text\nü\n")
    for options, mark in (((), b""), (("--bom",), codecs.BOM_UTF8)):
        manyclass("rank", file, "--out", out, *options, "--url", service)
        assert out.read_bytes().startswith(mark + b"text,")
        assert "ü" in out.read_text("utf-8")


@pytest.mark.parametrize(("delimiter", "point"), [(";", ","), (",", "."), ("\t", "."), ("|", ".")])
def test_numbers_have_a_decimal_comma_where_the_delimiter_is_none(
    manyclass, taught, tmp_path, delimiter, point
):
    file, out, again = (tmp_path / name for name in ("in.csv", "out.csv", "again.csv"))
    rows = [["nr", "text", "0.5"], ["1.5", "zebra", "0.25"], ["2", "a, b; c | d", "0,25"]]
    file.write_bytes(as_csv(*rows, delimiter=delimiter))
    asked = ("rank", "--text-column", "text", "-k", 1, "--probabilities", "--url", taught)
    manyclass(*asked, file, "--out", out)
    header, first, second = rows_of(out, delimiter)
    assert [row[:3] for row in (header, first, second)] == rows  # texts of the input stay
    assert header[3:] == ["confidence", "class_1", "probability_1", "score_1"]
    assert re.fullmatch(rf"\d+{re.escape(point)}\d{{6}}", first[6])
    manyclass(*asked, out, "--out", again)
    assert [row[:7] for row in rows_of(again, delimiter)] == [header, first, second]
    taught_again = manyclass(
        "learn", out, *["--text-column", "text", "--class-column", "class_1"], "--dry-run"
    )
    assert "2 rows to teach: 2 classes" in taught_again.stdout


def test_rows_that_were_ranked_are_labelled_by_a_column_of_ids(manyclass, fresh, tmp_path):
    table, ranked, done = (tmp_path / name for name in ("in.csv", "out.csv", "done.csv"))
    table.write_text("nr,text,from\n007,a dark lamp,Ann\n8,a full bin,Ben\n9,a rat,Cleo\n")
    columns = ("--text-column", "text", "--id-column", "nr", "--source-column", "from")
    manyclass("rank", table, *columns, "--out", ranked, "--url", fresh)
    header, *rows = rows_of(ranked)
    labels = ("lamps", "", "vermin")
    labelled = [[*row, label] for row, label in zip(rows, labels, strict=True)]
    done.write_bytes(as_csv([*header, "topic"], *labelled))
    asked = ("learn", done, "--ranked-id-column", "nr", "--class-column", "topic")
    shown = manyclass(*asked, "--dry-run")
    assert "2 rows to teach: 2 classes" in shown.stdout
    result = manyclass(*asked, "--reviewer", "anna", "--url", fresh)
    assert "learned 2 in" in result.stderr
    assert "1 row without a class left out" in result.stderr
    with Client(fresh) as client:
        found = {each.id: each for each in client.events()}
    assert {name: each.classes for name, each in found.items()} == {
        "007": ("lamps",),
        "9": ("vermin",),
    }
    lamp = found["007"]
    assert (lamp.text, lamp.source, lamp.reviewer) == ("a dark lamp", "Ann", "anna")
    assert waiting(fresh, "a dark lamp", "a full bin", "a rat") == ["8"]
    assert "skipped 2 duplicates" in manyclass(*asked, "--url", fresh).stderr


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("nr,topic\n1,a\n", ("--text-column", "nr"), "leave out --text-column"),
        ("nr,topic\n1,a\n", ("--class-column", "kind"), "there is no column `kind`"),
        ("nr,a,b\n1,x,y\n", (), "add --class-column COLUMN"),
        ("nr,topic\n,a\n2,b\n", ("--class-column", "topic"), "labels.csv:2: no id: nr is empty"),
    ],
)
def test_labels_by_a_column_of_ids_that_cannot_be_taught(
    manyclass, nobody, tmp_path, content, options, said
):
    table = tmp_path / "labels.csv"
    table.write_text(content)
    asked = ("learn", table, "--ranked-id-column", "nr", *options, "--dry-run", "--url", nobody)
    result = manyclass(*asked, exit_code=None)
    assert result.exit_code in (1, 2)
    assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize("name", ["out.csv", "out.xlsx"])
def test_a_table_says_of_each_row_whether_it_is_decided(manyclass, fresh, tmp_path, name):
    with Client(fresh) as client:
        for _ in range(4):
            client.learn_many(
                [{"text": f"word {each % 4}", "classes": [f"c{each % 4}"]} for each in range(40)]
            )
    file, out = tmp_path / "in.csv", tmp_path / name
    file.write_text("nr;text\n1;word 1\n2;unseen\n")
    limit = ("--min-confidence", 0.2)
    asked = ("rank", file, "-k", 1, "--id-column", "nr", "--out", out, "--url", fresh)
    result = manyclass(*asked, *limit)
    [header, first, second] = (
        rows_of(out, ";")
        if name == "out.csv"
        else Workbook(BytesIO(out.read_bytes())).rows("Sheet1")
    )
    assert header == ["nr", "text", "decision", "confidence", "class_1", "score_1"]
    assert (first[2], first[4]) == ("automatic", "c1")
    assert second[2:] == ["let a person decide", "", "", ""]
    assert "answered 1, abstained 1" in result.stderr
    assert "with --abstained those not answered" in result.stderr
    manyclass("rank", out, *limit, "--out", tmp_path / "again.csv", "--url", fresh)
    assert "new_decision" in (tmp_path / "again.csv").read_text().splitlines()[0]
    assert "--abstained" not in manyclass(*asked).stderr


def test_the_history_is_written_for_excel(manyclass, tmp_path):
    with new_service() as url:
        events = [
            {"text": "=1+1", "classes": ["a", "b"], "event_id": "e-1", "source": "anna"},
            {"features": {"x": 2}, "classes": ["007"], "weight": 0.5, "batch": "may.csv"},
        ]
        with Client(url) as client:
            client.learn_many(events)
        out = tmp_path / "events.xlsx"
        result = manyclass("export", "--events", "--out", out, "--url", url)
        assert "exported 2 events" in result.stderr
        [header, one, two] = Workbook(BytesIO(out.read_bytes())).rows("Sheet1")
        first, second = (dict(zip(header, row, strict=True)) for row in (one, two))
        assert (first["event_id"], first["text"], first["classes"]) == ("e-1", "=1+1", "a; b")
        assert (first["source"], second["batch"]) == ("anna", "may.csv")
        assert (second["classes"], second["weight"]) == ("007", "0.5")
        assert second["features"] == '{"x":2.0}'
        manyclass("export", "--events", "--out", tmp_path / "events.csv", "--bom", "--url", url)
        assert (tmp_path / "events.csv").read_bytes().startswith(codecs.BOM_UTF8 + b"event_id,")
        for options in (["--out", tmp_path / "x.csv"], ["--events", "--out", tmp_path / "x.ods"]):
            manyclass("export", *options, "--url", url, exit_code=2)


@pytest.mark.parametrize("name", ["events.csv", "events.xlsx"])
def test_a_table_of_the_history_has_the_vectors_and_teaches_them(manyclass, tmp_path, name):
    events = [
        {"text": "a puck", "vector": [3, 4], "classes": ["a", "b"], "event_id": "e-1"},
        {"text": "a bat", "classes": ["b"], "event_id": "e-2"},
        {"vector": [-1, 1], "classes": ["b"], "event_id": "e-3"},
    ]
    out, shown = tmp_path / name, []
    for taught in (False, True):
        with new_service() as url, Client(url) as client:
            if taught:
                columns = ("--text-column", "text", "--vector-column", "vector")
                labels = ("--class-column", "classes", "--class-separator", "; ")
                manyclass("learn", out, *columns, *labels, "--id-column", "event_id", "--url", url)
            else:
                client.learn_many(events)
                manyclass("export", "--events", "--out", out, "--url", url)
            shown.append([(e.key, e.classes, e.vector) for e in client.events(vectors=True)])
    assert shown[0] == shown[1]
    assert [vector is None for *_, vector in shown[0]] == [False, True, False]
