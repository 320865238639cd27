"""The advisor's figures are those of `manyclass evaluate`, and its verdict is the last record."""

import gzip
import json

from studies import advice

TEXTS = ["red round", "red flat", "blue round", "blue flat"]


def written(folder, file, rows):
    """Write a set of texts with these numbers of (training, test) rows."""
    lines = [
        {"split": split, "text": f"{TEXTS[at % 4]} w{at}", "classes": [TEXTS[at % 4].split()[0]]}
        for split, count in rows.items()
        for at in range(count)
    ]
    with gzip.open(folder / f"{file}.jsonl.gz", "wt") as out:
        out.writelines(f"{json.dumps(each)}\n" for each in lines)


def test_each_candidate_has_the_figures_of_evaluate(tmp_path):
    written(tmp_path, "cpv_it", {"train": 300, "test": 100, "other": 9})
    (tmp_path / "cpv_it.taxonomy.json").write_text("{}")
    data = advice.prepared(advice.read("cpv", tmp_path), 390)
    *found, last = advice.advised(data, "svm", 1, 0)
    assert last["events"] == 390
    assert last["differences"] == 0
    assert "in use" in last["verdict"]
    assert len(found) > 5
    assert any(each["candidate"].startswith("path,") for each in found)
    assert all(each["R1 of all"] == each["R1 by evaluate"] for each in found)
    assert all(each["R5 of all"] == each["R5 by evaluate"] for each in found)
    assert "points R1" not in found[0]
    assert all("points R1" in each for each in found[1:])
