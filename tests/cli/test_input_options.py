"""Options of files: refused where they mean nothing, files that are damaged, rows left out."""

import bz2
import gzip
import io
import json
import lzma
from zipfile import ZipFile

import pytest

from manyclass.training.compression import zstd
from tests.training.tables.files import write_arrow_file, write_parquet_file, write_spreadsheet

TABLE = b"text,label\nice,a\npuck,b\nball,a\nnet,b\n"
LINES = b'{"text": "ice", "classes": ["a"]}\n{"text": "puck", "classes": ["b"]}\n'


@pytest.fixture
def files(tmp_path):
    """Return a function that makes a file of a kind."""

    def make(kind):
        file = tmp_path / f"rows.{kind}"
        packed = io.BytesIO()
        if kind == "xlsx":
            write_spreadsheet(file, [["text", "label"], ["ice", "a"], ["puck", "b"]])
        elif kind == "parquet":
            write_parquet_file(file, text=["ice", "puck"], label=["a", "b"])
        elif kind == "arrow":
            write_arrow_file(file, text=["ice", "puck"], label=["a", "b"])
        elif kind == "csv.zip":
            with ZipFile(packed, "w") as archive:
                archive.writestr("rows.csv", TABLE)
            file.write_bytes(packed.getvalue())
        else:
            pack = {"gz": gzip.compress, "zst": zstd.compress, "bz2": bz2.compress}
            pack = {**pack, "xz": lzma.compress}.get(kind.rpartition(".")[2], bytes)
            file.write_bytes(pack(TABLE if "csv" in kind else LINES))
        return file

    return make


KINDS = [
    *("csv", "csv.gz", "csv.zst", "csv.bz2", "csv.xz", "csv.zip"),
    *("jsonl", "jsonl.gz", "xlsx", "parquet", "arrow"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_each_kind_is_read(manyclass, files, tmp_path, kind):
    result = manyclass("train", files(kind), "--out", tmp_path / "state")
    assert "2 classes" in result.stderr


@pytest.mark.parametrize("kind", [each for each in KINDS if each not in ("csv", "jsonl")])
def test_a_small_file_that_is_cut_is_one_line(manyclass, files, tmp_path, kind):
    file = files(kind)
    whole = file.read_bytes()
    out = tmp_path / "state"
    commands = [
        *(["train", file, "--out", out], ["report", file], ["learn", file], ["rank", file]),
        *(["evaluate", file], ["fit", file, "--out", out], ["place", file]),
    ]
    for at, end in enumerate([12, *range(20, len(whole), max(1, len(whole) // 9))]):
        file.write_bytes(whole[:end])
        command = commands[at % len(commands)]
        result = manyclass(*command, exit_code=None)
        assert result.exit_code in (1, 2, 3)
        assert str(file) in result.stderr or result.exit_code == 3
        assert result.stderr.count("\n") == 1
        assert not out.exists()


@pytest.mark.parametrize(
    ("kind", "option"),
    [
        *(("jsonl", option) for option in ("--delimiter=;", "--header", "--class-separator=;")),
        *(("parquet", option) for option in ("--delimiter=;", "--header", "--encoding=cp1252")),
        *(("xlsx", option) for option in ("--delimiter=;", "--encoding=cp1252")),
        *(("vw", option) for option in ("--delimiter=;", "--header", "--leave-out=nan")),
    ],
)
def test_an_option_that_means_nothing_for_the_files_is_refused(manyclass, tmp_path, kind, option):
    file = tmp_path / f"rows.{kind}"
    file.write_text("a")
    result = manyclass("train", file, option, "--out", tmp_path / "state", exit_code=2)
    flag = option.partition("=")[0]
    assert f"Invalid value for {flag}: files that are read as {kind} have none" in result.stderr


def test_an_option_for_one_of_the_files_is_not_refused(manyclass, files, tmp_path):
    table = files("csv")
    table.write_bytes("text;label\ncafé;a\n".encode("cp1252"))
    options = ["--encoding", "cp1252", "--delimiter", ";"]
    result = manyclass("train", table, files("xlsx"), *options, "--out", tmp_path / "state")
    assert "read 3 instances" in result.stderr


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_lines_are_read_in_their_encoding(manyclass, tmp_path, encoding):
    file = tmp_path / "rows.jsonl"
    file.write_bytes('{"text": "x", "classes": ["café"]}\n'.encode(encoding))
    more = ["--encoding", "cp1252"] if encoding == "cp1252" else []
    manyclass("train", file, *more, "--out", tmp_path / "state")
    assert "café" in manyclass("export", tmp_path / "state").stdout


def test_rows_left_out_and_labels_to_look_at_are_said(manyclass, tmp_path):
    file = tmp_path / "rows.jsonl"
    rows = [("x", "Refund", "accept"), ("y", "refund", "accept"), ("z", "nan", "accept")]
    rows.append(("w", "refund", "reject"))
    lines = [{"text": text, "classes": [label], "answer": each} for text, label, each in rows]
    file.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    said = manyclass("train", file, "--out", tmp_path / "state").stderr
    assert "read 3 instances" in said
    assert "1 rejected answer left out" in said
    assert "'nan' (1); --leave-out='nan' leaves out their rows" in said
    assert "'Refund' (1) and 'refund' (1)" in said
    said = manyclass("train", file, "--leave-out", "nan", "--out", tmp_path / "state").stderr
    assert "read 2 instances" in said
    assert "1 row by its label left out" in said
    assert "--leave-out" not in said


@pytest.mark.parametrize("name", ["missing", "missing.csv", "missing.jsonl", "folder"])
@pytest.mark.parametrize(
    "command",
    [
        *(["learn"], ["rank"], ["rank", "--out", "{}/out.csv"], ["report"], ["place"]),
        *(["evaluate"], ["train", "--out", "{}/out"], ["fit", "--out", "{}/out"]),
        *(["convert", "--out", "{}/out"], ["export"], ["evaluate", "{}/rows.jsonl", "--test"]),
    ],
)
def test_a_file_that_cannot_be_opened_is_one_line(manyclass, nobody, tmp_path, name, command):
    file = tmp_path / name
    (tmp_path / "rows.jsonl").write_bytes(LINES)
    if name.startswith("folder"):
        file.mkdir()
    words = [each.format(tmp_path) for each in command]
    result = manyclass(*words, file, exit_code=1)
    reason = "Is a directory" if file.is_dir() else "No such file or directory"
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"manyclass: {file}")
    assert reason in result.stderr
    assert "Errno" not in result.stderr
    assert not result.stdout
    assert not (tmp_path / "out").exists()


def test_the_keys_of_lines_take_the_options_of_columns(manyclass, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"q": "ice", "label": "a|b"}\n{"q": "net", "label": "b"}\n')
    state = ("--out", tmp_path / "state")
    columns = ("--text-column", "q", "--class-column", "label")
    assert "2 classes" in manyclass("train", file, *columns, "--class-separator=|", *state).stderr
    refused = manyclass("train", file, "--class-separator=|", *state, exit_code=2).stderr
    assert "the keys of JSON lines are columns" in " ".join(refused.split())
    manyclass("train", file, *columns, "--delimiter=|", *state, exit_code=2)


def test_one_of_a_kind_is_said_so(manyclass, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"features": ["ice"], "classes": ["a"]}\n')
    said = manyclass("train", file, "--out", tmp_path / "state").stderr
    assert "read 1 instance in" in said
    assert ": 1 class, 1 feature\n" in said
    assert "pass 1: 1 row in" in said
    assert "svm: 1 class, 1 feature, " in said


def test_a_file_of_an_unknown_name_has_lines_of_json_where_instances_are_ranked(
    manyclass, service, tmp_path
):
    file = tmp_path / "rows.unknown"
    file.write_bytes(b'{"features": ["none"], "id": "mine"}\n')
    assert json.loads(manyclass("rank", file, "--url", service).stdout)["id"] == "mine"
