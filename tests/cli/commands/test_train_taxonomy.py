"""manyclass train with a taxonomy."""

import json

from manyclass.core.model import Model


def test_a_state_is_trained_with_the_taxonomy_of_a_file(manyclass, tmp_path):
    rows = [{"features": [name], "classes": [name]} for name in ("pug", "cat", "animal") * 4]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "classes.tsv").write_text("pug\tdog\ndog\tanimal\ncat\tanimal\n")
    out = tmp_path / "state.snapshot"
    manyclass(
        *("train", tmp_path / "rows.jsonl", "--taxonomy", tmp_path / "classes.tsv", "--out", out),
        *("--passes", 3, "--held-out", 0.2, "--patience", 1),
    )
    model = Model.load([out.read_bytes()])
    assert model.taxonomy.path("pug") == ["animal", "dog", "pug"]
    assert model.taxonomy.is_class("animal")  # learned, not placed
    assert model.learner.taxonomy.path("cat") == ["animal", "cat"]


def test_a_taxonomy_with_a_circle_is_refused(manyclass, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"features": ["a"], "classes": ["a"]}\n')
    (tmp_path / "classes.tsv").write_text("a\tb\nb\ta\n")
    command = ("train", tmp_path / "rows.jsonl", "--out", tmp_path / "out")
    circle = manyclass(*command, "--taxonomy", tmp_path / "classes.tsv", exit_code=2)
    assert "which is below it" in circle.output
    missing = manyclass(*command, "--taxonomy", tmp_path / "nothing", exit_code=2)
    assert "nothing" in missing.output
    assert not (tmp_path / "out").exists()
