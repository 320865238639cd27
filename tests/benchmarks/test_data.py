import gzip
import json

import pytest

from benchmarks import data


def write_lines(path, rows):
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


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
