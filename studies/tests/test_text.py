import gzip
import json

import pytest

from studies import text
from studies.text import ideographs, measured, read

SPOKEN = ("book a table", "play a song")


@pytest.fixture
def data(tmp_path):
    """Return a folder with a small version of clinc."""
    rows = [
        {"split": split, "classes": [spoken], "text": f"{spoken} {split} {number}"}
        for split in ("train", "test", "oos_test")  # so that no whole phrase is in two
        for number in range(20)
        for spoken in SPOKEN
    ]
    lines = "\n".join(map(json.dumps, rows)).encode()
    (tmp_path / "clinc150.jsonl.gz").write_bytes(gzip.compress(lines))
    text.texts_of.cache_clear()
    yield tmp_path
    text.texts_of.cache_clear()


def test_a_word_has_the_same_ideographs_everywhere_and_no_space():
    written = ideographs("Play a song")
    assert written == ideographs("play") + ideographs("A") + ideographs("song")
    assert all("\u4e00" <= each < chr(0x4E00 + text.IDEOGRAPHS) for each in written)
    assert 3 <= len(written) <= 9


def test_a_set_is_read_by_each_analysis(data):
    features = {
        parts: {*read(f"clinc {parts}", data).rows.features} for parts in ("words", "words+pairs")
    }
    assert {"book", "play"} <= features["words"] < features["words+pairs"]
    assert "book a" in features["words+pairs"]


def test_ideographs_are_ranked(data):
    found = [*measured(read("clinc-ideographs words+pairs", data), "svm", 1, 0)][-1]
    assert found["R1"] == 1
    assert found["features"] > 6
