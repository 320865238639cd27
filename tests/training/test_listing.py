import json

import pytest

from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.training import listing
from manyclass.training.listing import json_of, text_of


@pytest.fixture
def learner():
    learner = make(Options(margin_threshold=0, mass_cap=0))
    for instance, true in [
        (["puck", "ice"], "hockey"),
        (["ice"], "skating"),
        (["ice"], "skating"),
        (["ål", "z"], "åre\tor \\oar\n\r"),
    ]:
        learner.learn(instance, [true])
    return learner


def test_text_holds_every_class_feature_and_edge_in_order(learner):
    lines = [*text_of(Model.of(learner, 4))]
    weights = dict(learner.feature("ice")["edges"])
    assert lines == [
        "class\thockey\t1",
        "class\tskating\t2",
        "class\tåre\\tor \\\\oar\\n\\r\t1",
        "feature\tice\t3",
        f"edge\tice\tskating\t{weights['skating']!r}",
        f"edge\tice\thockey\t{weights['hockey']!r}",
        "feature\tpuck\t1",
        "edge\tpuck\thockey\t1.0",
        "feature\tz\t1",
        "edge\tz\tåre\\tor \\\\oar\\n\\r\t1.0",
        "feature\tål\t1",
        "edge\tål\tåre\\tor \\\\oar\\n\\r\t1.0",
    ]
    assert weights["skating"] > weights["hockey"]


def test_json_holds_the_same(learner):
    lines = [json.loads(line) for line in json_of(Model.of(learner, 4))]
    assert lines[:3] == [
        {"class": "hockey", "learned": 1},
        {"class": "skating", "learned": 2},
        {"class": "åre\tor \\oar\n\r", "learned": 1},
    ]
    assert [line["feature"] for line in lines[3:]] == ["ice", "puck", "z", "ål"]
    assert lines[3] == {
        "feature": "ice",
        "times_seen": 3,
        "rating": pytest.approx(0.3),
        "edges": [
            {"class": name, "weight": weight} for name, weight in learner.feature("ice")["edges"]
        ],
    }
    assert all("\n" not in line for line in json_of(Model.of(learner, 4)))


def test_forgotten_names_are_not_listed(learner):
    learner.forget_feature("ice")
    learner.forget_class("hockey")
    lines = [*text_of(Model.of(learner, 4))]
    assert not any("ice" in line or "hockey" in line for line in lines)
    assert "feature\tpuck\t1" in lines


def test_names_are_listed_page_by_page(learner, monkeypatch):
    whole = [*text_of(Model.of(learner, 4))]
    monkeypatch.setattr(listing, "NAMES_AT_ONCE", 1)
    assert [*text_of(Model.of(learner, 4))] == whole


def test_nothing_learned_is_nothing_listed():
    assert [*text_of(Model(Options()))] == [*json_of(Model(Options()))] == []
