"""Vectors that commands send with rows: of a column, of a file of NumPy, of a server."""

import json
from base64 import b64decode

import numpy as np
import pytest

from manyclass.client.connection import Connection
from manyclass.client.encoding import encoded
from tests.cli.services import new_service
from tests.client.embedding_server import embedding_server, vector_of

TABLE = (
    "text,label,v\n"
    'the goalie,hockey,"[1, 2, 3]"\n'
    "a fence,baseball,0.5 0 1\n"
    "a bat,baseball,1 2\n"
    "a ball,baseball,\n"
)
COMMANDS = {"learn": "events", "rank": "instances", "give": "instances"}


@pytest.fixture
def service():
    """Yield the URL of a service that has no vectors yet, and so no dimension of them."""
    with new_service() as url:
        yield url


class Sent(list):
    """Rows, and how many were in each request."""

    def __init__(self):
        self.requests = []


@pytest.fixture
def sent(monkeypatch):
    """Return the rows that commands send, which reach the service without their vectors."""
    rows = Sent()
    post = Connection._post

    def recorded(self, path, body, answer):
        if path in ("/learn", "/rank", "/review"):
            key = "events" if path == "/learn" else "instances"
            some = json.loads(encoded(body)).get(key, [])
            rows.extend(some)
            rows.requests.append(len(some))
        return post(self, path, body, answer)

    monkeypatch.setattr(Connection, "_post", recorded)
    return rows


@pytest.fixture
def server():
    with embedding_server() as server:
        yield server


def vectors_of(rows):
    """Return the numbers of the vector of each row, by its text."""
    return {
        row["text"]: (v := row.get("vector"))
        and (np.frombuffer(b64decode(v), "<f4").tolist() if isinstance(v, str) else v)
        for row in rows
    }


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(TABLE)
    return file


@pytest.mark.parametrize("command", COMMANDS)
def test_a_column_of_vectors_is_sent(manyclass, service, sent, table, command):
    """A row whose vector has other numbers than the first is left out, with its line."""
    columns = ("--text-column", "text", "--vector-column", "v")
    more = ("--again",) if command == "learn" else ()
    result = manyclass(command, table, *columns, *more, "--url", service, exit_code=1)
    assert (
        f"{table}:4: its vector has 2 numbers, but that of {table}:2 has 3: all vectors of a"
        " service are of one model" in result.stderr
    )
    assert vectors_of(sent) == {
        "the goalie": [1, 2, 3],
        "a fence": [0.5, 0, 1],
        "a ball": None,
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_of_vectors_is_sent(manyclass, service, sent, tmp_path, command):
    first, second = tmp_path / "a.csv", tmp_path / "b.jsonl"
    first.write_text("text,label\nice,hockey\npuck,hockey\n")
    second.write_text('{"text": "bat", "classes": ["baseball"]}\n')
    np.save(tmp_path / "a.npy", np.array([[1, 2], [3, 4]], "f4"))
    np.save(tmp_path / "b.npy", np.array([[5, 6]], "i1"))
    vectors = ("--vectors", tmp_path / "a.npy", "--vectors", tmp_path / "b.npy")
    ignored = ("--ignore-unknown",)
    more = ("--again",) if command == "learn" else ()
    manyclass(command, first, second, *vectors, *ignored, *more, "--url", service)
    assert vectors_of(sent) == {"ice": [1, 2], "puck": [3, 4], "bat": [5, 6]}


def test_another_number_of_vectors_than_rows_sends_nothing(manyclass, service, sent, tmp_path):
    file, vectors = tmp_path / "a.jsonl", tmp_path / "a.npy"
    file.write_text('{"text": "bat", "classes": ["baseball"]}\n')
    np.save(vectors, np.ones((2, 3)))
    result = manyclass("learn", file, "--vectors", vectors, "--url", service, exit_code=1)
    assert result.stderr == (
        f"manyclass: {file}: it has 1 row, but {vectors} has 2 vectors: each row needs its own,"
        " in the same order\n"
    )
    assert sent == []
    piped = manyclass(
        "learn", "-", "--vectors", vectors, "--url", service, input=file.read_text(), exit_code=1
    )
    assert "standard input: it has 1 row, but" in piped.stderr
    assert len(sent) == 1


@pytest.mark.parametrize("value", ['[1, "x"]', '"?"', "[0, 0]", "{}", "[1]"])
def test_a_vector_of_json_lines_is_checked_before_it_is_sent(manyclass, service, sent, value):
    lines = f'{{"text": "a", "vector": {value}}}\n{{"text": "b", "vector": [1, 2]}}\n'
    result = manyclass("rank", "-", "--url", service, input=lines, exit_code=1)
    assert "standard input:1: " in result.stderr
    assert "vector" in result.stderr
    assert vectors_of(sent) == {"b": [1, 2]}


def test_null_is_no_vector(manyclass, service, sent, server):
    lines = '{"text": "a", "vector": null}\n{"text": "b", "vector": [1, 2]}\n'
    manyclass("rank", "-", "--url", service, input=lines)
    assert vectors_of(sent) == {"a": None, "b": [1, 2]}
    manyclass("rank", "-", "--embed", server.url, "--url", service, input=lines)
    assert vectors_of(sent) == {"a": vector_of("a"), "b": [1, 2]}


def test_a_dry_run_checks_vectors(manyclass, table):
    columns = ("--text-column", "text", "--class-column", "label", "--vector-column", "v")
    result = manyclass("learn", table, *columns, "--dry-run", exit_code=1)
    assert f"{table}:4: its vector has 2 numbers" in result.stderr
    assert "3 rows to teach" in result.stdout


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--vectors", "a.npy", "--vectors", "b.npy"], "there are 1 files and 2 of vectors"),
        (["--vectors", "a.npy", "--vector-column", "v"], "give one of the two"),
        (
            ["--vector-column", "v", "--ranked-id-column", "text"],
            "the vector is that which was ranked under the id",
        ),
        (["--embed-model", "x"], "name the server with --embed"),
        (["--embed-cache", "x"], "name the server with --embed"),
        (["--embed", "http://a b"], "the URL of the service must be"),
    ],
)
def test_options_that_do_not_fit_are_refused(manyclass, table, options, reason):
    result = manyclass("learn", table, *options, exit_code=2)
    assert reason in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("command", ["train", "evaluate", "report"])
@pytest.mark.parametrize("options", [["--vector-column", "v"], ["--vectors", "v.npy"]])
def test_offline_commands_refuse_vectors_in_words(manyclass, table, command, options):
    result = manyclass(command, table, "--text-column", "text", *options, exit_code=2)
    said = " ".join(result.stderr.replace("│", " ").split())
    assert "vectors are learned by a service only: `manyclass learn` teaches them" in said
    assert "--vector" not in manyclass(command, "--help").stdout


def test_offline_commands_leave_out_the_vectors_of_lines_and_say_so(manyclass, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"text": "ice", "classes": ["a"], "vector": [1, 2]}\n'
        '{"features": ["bat"], "classes": ["b"], "vector": [1, 2]}\n'
        '{"text": "net", "classes": ["b"], "vector": null}\n'
        '{"classes": ["b"], "vector": [1, 2]}\n'
    )
    result = manyclass("train", file, "--out", tmp_path / "state", exit_code=1)
    assert "2 vectors left out: only a service learns them, by `manyclass learn`" in result.stderr
    assert ":4: a `vector` alone is learned by a service only" in result.stderr


# --- a server of embeddings -----------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_texts_are_sent_with_the_vectors_of_a_server(
    manyclass, service, sent, server, tmp_path, command
):
    file = tmp_path / f"{command}.jsonl"
    texts = [f"{command} {number}" for number in range(130)]
    rows = [{"text": text, "classes": [f"embedded {len(text)}"]} for text in texts]
    file.write_text("".join(json.dumps(each) + "\n" for each in rows))
    options = ("--embed", server.url, "--embed-model", "hashed", "--ignore-unknown")
    manyclass(command, file, *options, "--url", service, env={"MANYCLASS_EMBED_KEY": "sesame"})
    assert vectors_of(sent) == {text: vector_of(text) for text in texts}
    assert [len(each) for each in server.texts] == [64, 64, 2]
    assert sent.requests[:3] == [64, 64, 2]  # the bar moves with each
    assert {body["model"] for _, body, _ in server.requests} == {"hashed"}
    assert {headers["Authorization"] for _, _, headers in server.requests} == {"Bearer sesame"}


def test_vectors_are_kept_for_the_next_command(manyclass, service, sent, server, tmp_path):
    options = ("--embed", server.url, "--embed-cache", tmp_path / "vectors.db", "--url", service)
    for command in ("rank", "give"):
        manyclass(command, "-", *options, input='{"text": "kept"}\n')
    assert server.texts == [["kept"]]
    assert [each["vector"] for each in sent] == [sent[0]["vector"]] * 2
    (tmp_path / "vectors.db").write_text("text,label\n" * 100)
    result = manyclass("rank", "-", *options, input='{"text": "kept"}\n', exit_code=2)
    assert "cannot keep vectors" in " ".join(result.stderr.replace("│", " ").split())


def test_a_row_keeps_a_vector_of_its_own(manyclass, service, sent, server, table):
    columns = ("--text-column", "text", "--vector-column", "v")
    options = ("--embed", server.url.removeprefix("http://"))
    manyclass("rank", table, *columns, *options, "--url", service, exit_code=1)
    assert server.texts == [["a ball"]]
    assert vectors_of(sent)["a fence"] == [0.5, 0, 1]


def test_a_text_that_the_server_refuses_is_a_bad_line(manyclass, service, sent, server):
    lines = "".join(json.dumps({"text": each}) + "\n" for each in ("a", "refused b", "c", "d"))
    options = ("--embed", server.url, "--url", service)
    result = manyclass("rank", "-", *options, input=lines, exit_code=1)
    assert (
        "standard input:2: the server of embeddings refuses the text: 400 Bad Request: the input is"
        " too long\n" in result.stderr
    )
    assert [*vectors_of(sent)] == ["a", "c", "d"]


def test_no_server_of_embeddings_ends_the_command(manyclass, service, sent, nobody):
    options = ("--embed", nobody, "--url", service)
    result = manyclass("rank", "-", *options, input='{"text": "a"}\n', exit_code=3)
    assert "no embeddings from http://127.0.0.1:9/v1/embeddings: " in result.stderr
    assert "Is the server of embeddings running? --embed names it, such as" in result.stderr
    assert sent == []


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (401, "MANYCLASS_EMBED_KEY or --embed-key names a key."),
        (403, "MANYCLASS_EMBED_KEY or --embed-key names a key."),
        (404, "--embed names the server, --embed-model its model."),
    ],
)
def test_a_server_that_refuses_is_one_line_with_the_way_on(
    manyclass, service, sent, server, status, remedy
):
    server.prepared = [(status, {"error": "it says why"}, {})]
    options = ("--embed", server.url, "--embed-key", "sesame", "--url", service)
    result = manyclass("rank", "-", *options, input='{"text": "a"}\n', exit_code=1)
    assert f"the server of embeddings refused: {status} " in result.stderr
    assert f": it says why. {remedy}\n" in result.stderr
    assert "sesame" not in result.stderr
    assert sent == []
