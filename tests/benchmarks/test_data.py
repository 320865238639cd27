import gzip
import json

import pytest

from benchmarks import data


def write_lines(path, rows):
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


def test_jane_austen_leaves_out_features_seen_once(tmp_path):
    (tmp_path / "jane_austen").mkdir()
    for name in ("one", "two"):
        text = f"She was {name}. He was not.\n\nShe was {name}."
        (tmp_path / "jane_austen" / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode()))

    rows = data.jane_austen(tmp_path)

    assert len(rows) == 2 * 9
    assert set(rows.classes) == {"She", "was", "one", "two", "He", "not"}
    assert "She _" in rows.features
    assert "She _ one" in rows.features  # twice in one book
    assert "_ was not" in rows.features  # once in each
    counts = {name: 0 for name in rows.features}
    for at in rows.indices:
        counts[rows.features[at]] += 1
    assert min(counts.values()) == 2


def test_headers_but_the_subject_are_dropped():
    post = "From: a@b.c\nSubject: Re: Old cars\nLines: 2\n\nSubject: not a header\nCars!"

    assert data.word_counts(data.without_headers(post)) == {
        "re": 1,
        "old": 1,
        "cars": 2,
        "subject": 1,
        "not": 1,
        "header": 1,
    }
    assert data.without_headers("From: a@b.c\n\nBody").split() == ["Body"]


def test_newsgroups_are_counted_words_of_both_splits(tmp_path):
    write_lines(
        tmp_path / "newsgroups.jsonl.gz",
        [
            {"split": "train", "classes": ["rec.autos"], "text": "Subject: cars\n\ncars go"},
            {"split": "test", "classes": ["sci.med"], "text": "Subject: pills\n\nx pills"},
        ],
    )

    rows = data.newsgroups(tmp_path)

    assert rows.features == ["cars", "go", "pills"]
    assert rows.values.tolist() == [2, 1, 2]
    assert rows.classes == ["rec.autos", "sci.med"]


def test_short_texts_have_the_services_features_and_no_unknown_intents(tmp_path):
    write_lines(
        tmp_path / "clinc150.jsonl.gz",
        [
            {"split": "oos_val", "classes": ["oos"], "text": "what?"},
            {"split": "train", "classes": ["card"], "text": "My card, my card"},
        ],
    )

    rows = data.clinc(tmp_path)

    assert rows.classes == ["card"]
    assert dict(zip(rows.features, rows.values.tolist(), strict=True)) == {
        "my": 2,
        "card": 2,
        "my card": 2,
        "card my": 1,
    }


@pytest.mark.parametrize("reader", data.SETS.values(), ids=data.SETS)
def test_missing_data_ends_the_command_and_says_what_is_missing(tmp_path, reader):
    with pytest.raises(SystemExit) as ended:
        reader(tmp_path)

    assert str(tmp_path) in str(ended.value)
    assert "BENCHMARK_DATA" in str(ended.value)
    assert ended.value.code not in (0, None)
