import json

import pytest

from benchmarks import ready
from manyclass.service.store import open_store


def test_the_model_has_as_many_edges_as_asked_for_and_the_options_of_a_service():
    model = ready.grown(50_000)

    assert 0.95 * 50_000 < model.learner.edges <= 50_000
    assert model.learner.features == 2_000
    assert model.options == ready.Settings().model_set().primary


def test_a_saved_model_is_what_is_loaded(tmp_path):
    model = ready.grown(5_000)
    url = f"sqlite:{tmp_path}/store.db"

    size = ready.keep(model, url)

    store = open_store(url, lambda: 0.0)
    [snapshot] = store.snapshots()
    assert (snapshot.seq, snapshot.bytes) == (model.seq, size)
    loaded = ready.Model.load(store.open_snapshot(snapshot.seq))
    assert loaded.digest() == model.digest()
    store.close()


@pytest.mark.slow
def test_all_of_it_in_short(tmp_path):
    result = tmp_path / "figures.json"
    options = ready.parser().parse_args(
        ["--edges", "5000", "--rounds", "1", "--folder", str(tmp_path), "--json", str(result)]
    )

    ready.main(options)

    [rows] = json.loads(result.read_text()).values()
    assert [row["snapshot in"] for row in rows] == ["sqlite", "redis"]
    for row in rows:
        assert all(row[figure] > 0 for figure in ("ready s", "store s", "core s", "plain read s"))
        assert row["peak MB"] >= row["resident MB"] > 10
