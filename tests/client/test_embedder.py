"""Vectors of texts by a server of embeddings, and what the client sends with them."""

import json
from array import array
from base64 import b64decode

import msgspec
import numpy as np
import pytest

from manyclass.client.embedder import MOST_KEPT, TEXTS_AT_ONCE, Embedder, text_to_embed
from manyclass.client.errors import (
    EmbedderUnreachable,
    EmbeddingRefused,
    NoWireForm,
    RequestRefused,
    ServiceUnreachable,
    Unusable,
)
from tests.client.embedding_server import answer_of, embedding_server, vector_of
from tests.client.test_client import LEARNED, LEARNED_MANY, FakeService

RANKED = {"seq": 1, "ranked": [], "confidence": None}


@pytest.fixture
def server():
    with embedding_server() as server:
        yield server


@pytest.fixture
def embedder(server):
    with Embedder(server.url, "hashed", sleep=lambda seconds: None) as embedder:
        yield embedder


def floats(text):
    """Return the numbers of a vector as a request carries it."""
    return np.frombuffer(b64decode(text), "<f4").tolist()


# --- the server -----------------------------------------------------------------------------------


def test_texts_are_embedded_in_order(server, embedder):
    texts = [f"text {number}" for number in range(2 * TEXTS_AT_ONCE + 5)]
    assert [vector.tolist() for vector in embedder(texts)] == [*map(vector_of, texts)]
    assert [len(each) for each in server.texts] == [TEXTS_AT_ONCE, TEXTS_AT_ONCE, 5]
    assert {(path, body["model"]) for path, body, _ in server.requests} == {
        ("/v1/embeddings", "hashed")
    }


def test_an_equal_text_is_asked_for_once(server, embedder):
    assert embedder(["ice", "puck", "ice"])[2].tolist() == vector_of("ice")
    assert embedder(["net", "puck"])[1].tolist() == vector_of("puck")
    assert server.texts == [["ice", "puck"], ["net"]]


def test_the_oldest_vectors_are_not_kept(server, embedder):
    embedder(["used again", "oldest"])
    embedder(["used again"])
    embedder([str(number) for number in range(MOST_KEPT - 1)])
    server.requests.clear()
    embedder(["used again"])
    assert server.texts == []
    embedder(["oldest"])
    assert server.texts == [["oldest"]]


def test_a_server_that_takes_fewer_texts_gets_fewer(server, embedder):
    server.most = 20
    texts = [f"text {number}" for number in range(100)]
    assert [vector.tolist() for vector in embedder(texts)] == [*map(vector_of, texts)]
    assert [len(each) for each in server.texts] == [64, 32, *[16] * 6, 4]


def test_a_refused_text_is_found_and_the_others_are_kept(server, embedder):
    texts = [f"text {number}" for number in range(70)]
    texts[40] = "refused"
    with pytest.raises(EmbeddingRefused, match="400 Bad Request: the input is too long"):
        embedder(texts)
    assert server.texts[-1] == ["refused"]
    server.requests.clear()
    embedder(texts[:40])
    assert server.texts == []
    embedder([f"more {number}" for number in range(64)])
    assert [len(each) for each in server.texts] == [64]


def test_vectors_are_kept_in_a_file_by_text_and_model(server, tmp_path):
    cache = str(tmp_path / "vectors.db")
    texts = [f"text {number}" for number in range(1200)]
    with Embedder(server.url, "one", cache=cache) as embedder:
        first = embedder(texts)
    server.requests.clear()
    with Embedder(server.url, "one", cache=cache) as embedder:
        assert embedder([*texts, "new"])[:-1] == first
    assert server.texts == [["new"]]
    with Embedder(server.url, "two", cache=cache) as embedder:
        embedder(texts[:2])
    assert server.texts[1:] == [texts[:2]]


def test_two_embedders_use_one_file(server, tmp_path):
    cache = str(tmp_path / "vectors.db")
    with (
        Embedder(server.url, cache=cache) as first,
        Embedder(server.url, cache=cache) as second,
    ):
        first(["ice"])
        second(["ice", "puck"])
        first(["puck"])
    assert server.texts == [["ice"], ["puck"]]


def test_a_file_that_is_no_cache_is_unusable(server, tmp_path):
    file = tmp_path / "vectors.db"
    file.write_bytes(b"text,label\n" * 100)
    with pytest.raises(Unusable, match=r"vectors.db cannot keep vectors: file is not a database"):
        Embedder(server.url, cache=str(file))
    with pytest.raises(Unusable, match="unable to open database file"):
        Embedder(server.url, cache=str(tmp_path / "none" / "vectors.db"))


def test_a_cache_of_another_dimension_is_refused(server, tmp_path):
    cache = str(tmp_path / "vectors.db")
    server.prepared = [(200, answer_of(["puck"], 5), {})]
    with Embedder(server.url, cache=cache) as embedder:
        embedder(["puck"])
    with Embedder(server.url, cache=cache) as embedder:
        embedder(["ice"])
        with pytest.raises(EmbedderUnreachable, match="has 5 numbers, the first one 8"):
            embedder(["puck"])


@pytest.mark.parametrize(
    ("path", "called"),
    [
        ("", "/v1/embeddings"),
        ("/", "/v1/embeddings"),
        ("/v1", "/v1/embeddings"),
        ("/v1/embeddings", "/v1/embeddings"),
        ("/api/embeddings", "/api/embeddings"),
        ("/gate", "/gate/v1/embeddings"),
    ],
)
def test_the_url_may_be_that_of_the_call(server, path, called):
    with Embedder(server.url + path) as embedder:
        embedder(["ice"])
    [(asked, body, headers)] = server.requests
    assert asked == called
    assert body == {"input": ["ice"]}  # no model was named
    assert "Authorization" not in headers


def test_the_key_is_a_bearer(server):
    with Embedder(server.url, key="sesame") as embedder:
        embedder(["ice"])
    assert server.requests[0][2]["Authorization"] == "Bearer sesame"
    with pytest.raises(Unusable):
        Embedder(server.url, key="two words")
    with pytest.raises(Unusable):
        Embedder("ftp://server")


def test_a_server_that_is_busy_is_asked_again_after_its_time(server):
    waits = []
    server.prepared = [
        (429, {"error": {"message": "slow down"}}, {"Retry-After": "3"}),
        (503, {}, {}),
    ]
    with Embedder(server.url, sleep=waits.append) as embedder:
        [vector] = embedder(["ice"])
    assert vector.tolist() == vector_of("ice")
    assert waits[0] == 3
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("status", "answer", "detail"),
    [
        (401, {"error": {"message": "no such key", "type": "auth"}}, "no such key"),
        (404, {"error": "model 'x' not found"}, "model 'x' not found"),
        (400, {"object": "error", "message": "too long"}, "too long"),
        (422, {"detail": "no input"}, "no input"),
        (500, b"<html>Internal", "<html>Internal"),
        (500, b"\xff", "\ufffd"),
        (418, {"error": None}, ""),
        (418, [1], "[1]"),
    ],
)
def test_an_error_has_the_words_of_the_server(server, embedder, status, answer, detail):
    server.prepared = [(status, answer, {})]
    with pytest.raises(EmbeddingRefused) as refused:
        embedder(["ice"])
    assert (refused.value.status, refused.value.detail) == (status, detail)
    assert refused.value.is_of_texts == (status in (400, 422))
    assert isinstance(refused.value, RequestRefused)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"<html>", "JSON is malformed"),
        ({"embedding": [1, 2]}, "missing required field `data`"),
        ({"data": [{"index": 0, "embedding": "AAAA"}]}, "Expected `array`, got `str`"),
        ({"data": []}, "it has not one embedding for each of 2 texts"),
        ({"data": [*answer_of(["ice"])["data"] * 2]}, "it has not one embedding for each"),
        ({"data": [{"index": at, "embedding": []} for at in (0, 1)]}, "an embedding has 0 numbers"),
    ],
)
def test_an_answer_of_another_form_is_refused(server, embedder, answer, reason):
    server.prepared = [(200, answer, {})]
    with pytest.raises(EmbedderUnreachable) as other:
        embedder(["ice", "puck"])
    assert reason in str(other.value)
    assert str(other.value).startswith(f"no embeddings from {server.url}/v1/embeddings: its answer")
    assert isinstance(other.value, ServiceUnreachable)


def test_another_dimension_is_refused(server, embedder):
    embedder(["ice"])
    server.prepared = [(200, answer_of(["puck"], 5), {})]
    with pytest.raises(EmbedderUnreachable, match="has 5 numbers, the first one 8"):
        embedder(["puck"])


def test_no_server_is_an_error_at_once():
    with (
        Embedder("http://127.0.0.1:9", sleep=lambda seconds: pytest.fail("it waits")) as embedder,
        pytest.raises(EmbedderUnreachable, match=r"no embeddings from http://127\.0\.0\.1:9/v1"),
    ):
        embedder(["ice"])


# --- the client -----------------------------------------------------------------------------------


def embed_once(texts):
    """Return vectors as a function of a user does."""
    return np.array([vector_of(text) for text in texts], "f4")


def test_a_text_is_sent_with_its_vector(server, embedder):
    many = {"seq": 1, "results": [RANKED] * 5}
    service = FakeService(RANKED, many, LEARNED, LEARNED_MANY, {"seq": 1, "ids": ["a"]})
    client = service.client(embed=embedder)
    client.rank({"text": "ice"})
    assert floats(service.body()["vector"]) == vector_of("ice")
    client.rank_many(
        [
            {"text": {"title": "late goal", "body": None, "more": "ice"}},
            {"features": ["ice"]},
            {"text": "own", "vector": [1, 2]},
            {"text": " "},
            {"text": "no vector yet", "vector": None},
        ]
    )
    sent = service.body(1)["instances"]
    assert floats(sent[0]["vector"]) == vector_of("late goal\nice")
    assert [each.get("vector") for each in sent[1:4]] == [None, [1, 2], None]
    assert floats(sent[4]["vector"]) == vector_of("no vector yet")
    client.learn({"text": "ice", "classes": ["a"]})
    assert floats(service.body(2)["vector"]) == vector_of("ice")
    client.learn_many([{"id": "q", "classes": ["a"]}, {"text": "puck", "classes": ["b"]}])
    sent = service.body(3)["events"]
    assert "vector" not in sent[0]
    assert floats(sent[1]["vector"]) == vector_of("puck")
    client.give_for_review([{"text": "net"}])
    assert floats(service.body(4)["instances"][0]["vector"]) == vector_of("net")
    assert server.texts == [["ice"], ["late goal\nice", "no vector yet"], ["puck"], ["net"]]


def test_the_embedder_is_closed_with_the_client(server):
    embedder = Embedder(server.url)
    with FakeService().client(embed=embedder):
        embedder(["ice"])
    with pytest.raises(RuntimeError, match="closed"):
        embedder(["puck"])


def test_a_function_may_embed(server):
    service = FakeService(RANKED, {"seq": 1, "results": [RANKED] * 2})
    with service.client(embed=embed_once) as client:
        client.rank({"text": "ice"})
        client.rank_many([{"text": "ice"}, {"text": "puck"}])
    assert floats(service.body()["vector"]) == vector_of("ice")
    sent = service.body(1)["instances"]
    assert [floats(each["vector"]) for each in sent] == [vector_of("ice"), vector_of("puck")]


def test_a_function_that_returns_too_few_vectors_is_an_error():
    with (
        FakeService().client(embed=lambda texts: [[1, 2]]) as client,
        pytest.raises(ValueError, match="shorter"),
    ):
        client.rank_many([{"text": "ice"}, {"text": "puck"}])


@pytest.mark.parametrize(
    ("text", "embedded"),
    [
        ("ice", "ice"),
        (" \n", ""),
        ({"title": "a", "body": "b"}, "a\nb"),
        ({"title": "", "body": None}, ""),
        (5, ""),
        (None, ""),
        (msgspec.Raw(b'{"title": "a"}'), "a"),
    ],
)
def test_the_text_that_is_embedded(text, embedded):
    assert text_to_embed(text) == embedded


# --- vectors of the user --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vector", "sent"),
    [
        ([0.5, 1], [0.5, 1]),
        ("AACAPwAAAEA=", "AACAPwAAAEA="),
        ({"int8": "AQI="}, {"int8": "AQI="}),
        (np.array([1.0, 2.0]), "AACAPwAAAEA="),
        (np.array([1, 2], "f2"), "AACAPwAAAEA="),
        (np.array([1, 2], "i8"), "AACAPwAAAEA="),
        (array("d", [1, 2]), "AACAPwAAAEA="),
        (np.array([1, 2], "i1"), {"int8": "AQI="}),
    ],
)
def test_an_array_is_sent_as_base64(vector, sent):
    service = FakeService(RANKED, LEARNED)
    with service.client() as client:
        client.rank({"text": "ice", "vector": vector})
        client.learn({"features": {"vector": np.float32(2)}, "vector": vector, "classes": ["a"]})
    assert service.body()["vector"] == service.body(1)["vector"] == sent
    assert service.body(1)["features"] == {"vector": 2}  # a feature of this name is a number


@pytest.mark.parametrize(
    "vector",
    [
        np.array([1.0, np.nan]),
        np.array([1.0, np.inf]),
        np.array([1e39, 1.0]),
        np.array([[1.0, 2.0]]),
        np.array(["a", "b"]),
        np.array([[1, 2]], "i1"),
    ],
)
def test_an_array_that_is_no_vector_has_no_wire_form(vector):
    service = FakeService()
    with service.client() as client, pytest.raises(NoWireForm) as fault:
        client.rank_many([{"text": "ice"}, {"text": "ice", "vector": vector}])
    assert fault.value.place == "/instances/1/vector"
    assert "finite numbers in one dimension" in str(fault.value)
    assert json.dumps(str(fault.value))
    assert service.requests == []
