"""Snapshots with right checksums and wrong contents: refused with a name, or as good as real."""

import json

import numpy as np
import pytest

from load_tests import crafted
from manyclass.core import rules, snapshot
from manyclass.core.errors import SnapshotError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from tests.core.streams import taught


def test_crafted_snapshots_are_refused_by_name_or_work():
    outcomes = crafted.run(150, seed=11)
    assert outcomes["loaded"] > 10
    assert len(outcomes) > 20  # refused for many different sections


def test_the_same_seed_crafts_the_same_snapshots():
    of = crafted.originals()
    for number in range(20):
        (_, one), (_, other) = (crafted.crafted(5, number, of) for _ in range(2))
        assert one.sealed() == other.sealed()


def test_an_unchanged_snapshot_is_loaded():
    for original in crafted.originals():
        assert crafted.outcome(original, crafted.Parts.of(original)) == "loaded"


def small_model():
    options = Options.of("svm", constraints="each", bias=0.3)
    model = Model(ModelSet(options, (Options.of("frequency"),)))
    for number in range(1, 8):
        event = Event.learn(Instance({f"f{number % 3}": 1.0}), [f"c{number % 4}"], f"e{number}")
        model.apply(number, event)
    model.apply(8, Event.forget_class("c3"))
    model.apply(9, Event.forget_feature("f2"))
    return model


def changed(section, at, value):
    facts, arrays = snapshot.read(small_model().dump())
    arrays[section] = arrays[section].copy()
    arrays[section].reshape(-1)[at] = value
    return snapshot.write(facts, arrays)


@pytest.mark.parametrize(
    ("section", "at", "value"),
    [
        ("counts", 0, 2**63),
        ("counts", 1, 8),  # more first passes than instances
        ("counts", 5, 0),  # fewer past instances came than are kept
        ("feature_times_seen", 0, 1000),
        ("feature_last_seen", 0, 1000),
        ("feature_last_seen", 1, 1),  # of a free feature
        ("feature_mass", 1, 0.5),
        ("class_last_learned", 0, 1000),
        ("class_learned", 0, 0),
        ("class_learned", 0, 2**62),
        ("class_born", 2, 2),  # of a free class
        ("class_bias", 0, 1e-40),
        ("class_bias", 0, np.nan),
        ("class_bias", 2, 0.5),  # of a free class
        ("edge_masses", 0, 1e-40),
        ("edge_masses", 0, 3e38),
        ("kept_features", 0, 0),
        ("kept_true", 0, 0),
        ("kept_feature_values", 0, 1e38),
        ("calibration_outcomes", 0, 2**64 - 1),
        ("calibration_numbers", 1, 1e308),
        ("calibration_numbers", 4, 5.0),
        ("progress_counts", 0, 2**64 - 1),
        ("progress_counts", 1, 100),
        ("progress_reciprocal_ranks", 0, np.nan),
        ("recent_events", 3, 1000),  # an event that is still to come
        ("shadow1.class_learned", 1, 2**63),
        ("shadow1.progress_counts", 3, 2**63),
    ],
)
def test_a_number_that_no_event_can_lead_to_is_refused_with_its_section(section, at, value):
    with pytest.raises(SnapshotError) as refused:
        Model.load(changed(section, at, value))
    assert refused.value.section == section
    assert repr(section) in str(refused.value)


def test_a_name_longer_than_any_event_may_bring_is_refused():
    facts, arrays = snapshot.read(small_model().dump())
    arrays["feature_names"] = np.full(5002, ord("x"), np.uint8)
    arrays["feature_names"][-2:] = [ord("y"), ord("z")]
    arrays["feature_name_sizes"] = np.array([5000, 0, 2], np.uint16)
    with pytest.raises(SnapshotError, match="'feature_name_sizes': a name is too long"):
        Model.load(snapshot.write(facts, arrays))


@pytest.mark.parametrize("name", ["unknown", "shadow2.counts", "member_0_counts", "shadow1."])
def test_a_section_that_belongs_to_no_learner_is_refused(name):
    facts, arrays = snapshot.read(small_model().dump())
    arrays[name] = arrays["counts"]
    with pytest.raises(SnapshotError, match="no learner of the snapshot has it") as refused:
        Model.load(snapshot.write(facts, arrays))
    assert refused.value.section == name


NESTED = {"learner": "committee", "members": "committee(" * 400}


@pytest.mark.parametrize(
    "other",
    [
        {"seq": -1},
        {"seq": 9.5},
        {"seq": True},
        {"seq": 2**64},
        {"seq": float("inf")},
        {"restores": None},
        {"restores": [[3]]},
        {"restores": [[3, 5]]},
        {"restores": [[5, 1], [4, 1]]},
        {"restores": [[100, 1]]},
        {"learners": []},
        {"learners": {"primary": {"learner": "ff"}, "shadows": [], "more": 1}},
        {"learners": {"primary": {"learner": "ff"}, "shadows": 5}},
        {"learners": {"primary": NESTED, "shadows": []}},
        {"chosen": []},
        {"chosen": {"primary": {"learner": "ff"}}},
        {"chosen": {"primary": {"learner": "nobody"}, "shadows": []}},
        {"more": 1},
    ],
)
def test_facts_that_cannot_be_are_refused(other):
    facts, arrays = snapshot.read(small_model().dump())
    with pytest.raises(SnapshotError, match="header"):
        Model.load(snapshot.write(facts | other, arrays))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("shape", [-1]),
        ("shape", [2**64]),
        ("shape", []),
        ("shape", [1.0]),
        ("shape", [True]),
        ("dtype", "|O"),
        ("dtype", ">u8"),
        ("dtype", "<i8"),
        ("dtype", "u4,u4"),
        ("dtype", []),
        ("checksum", None),
        ("name", "feature_mass"),  # twice
        ("name", 5),
    ],
)
def test_a_section_that_the_header_describes_wrongly_is_refused(key, value):
    _, header, *data = small_model().dump()
    described = json.loads(bytes(header))
    described["sections"][0][key] = value
    header = json.dumps(described).encode()
    prefix = snapshot._PREFIX.pack(snapshot.MAGIC, len(header), snapshot._checksum(header))
    with pytest.raises(SnapshotError):
        Model.load([prefix, header, *data])


# --- sections at odds with each other -------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("edge_classes", lambda a: a + 100),
        ("edge_classes", lambda a: a * 0),
        ("edge_masses", lambda a: -a),
        ("edge_masses", lambda a: a * np.float32("nan")),
        ("edge_masses", lambda a: a[::-1]),
        ("edge_masses", lambda a: a[:-1]),
        ("feature_mass", lambda a: a * 0),
        ("feature_mass", lambda a: a.astype(np.float32)),
        ("outdegrees", lambda a: a + 1),
        ("outdegrees", lambda a: a * 0),
        ("feature_names", lambda a: a * 0 + 97),
        ("feature_name_sizes", lambda a: a + 1),
        ("feature_name_sizes", lambda a: a * 0),
        ("feature_free", lambda a: np.array([0], a.dtype)),
        ("class_free", lambda a: np.array([0], a.dtype)),
        ("class_name_sizes", lambda a: a[:-1]),
        ("progress_counts", lambda a: a[:-1]),
        ("progress_ranks", lambda a: a[:-1]),
        ("recent_events", lambda a: a[:, :3]),
    ],
)
def test_a_state_that_contradicts_itself_is_not_loaded(section, change):
    facts, arrays = snapshot.read(taught().dump())
    arrays[section] = change(arrays[section])
    with pytest.raises(SnapshotError):
        Model.load(snapshot.write(facts, arrays))


@pytest.mark.parametrize(
    "missing",
    [
        "counts",
        "feature_mass",
        "progress_ranks",
        "recent_events",
        "shadow1.counts",
        "shadow1.progress_ranks",
    ],
)
def test_a_state_with_a_part_missing_is_not_loaded(missing):
    facts, arrays = snapshot.read(small_model().dump())
    del arrays[missing]
    with pytest.raises(SnapshotError):
        Model.load(snapshot.write(facts, arrays))


@pytest.mark.parametrize("facts", [{}, {"seq": 1}, {"seq": "x", "options": {}, "restores": []}])
def test_a_header_that_makes_no_sense_is_not_loaded(facts):
    _, arrays = snapshot.read(small_model().dump())
    with pytest.raises(SnapshotError):
        Model.load(snapshot.write(facts | {"rules": rules.RULES}, arrays))
