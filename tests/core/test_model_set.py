from dataclasses import replace

import pytest

from manyclass.core.errors import OptionError
from manyclass.core.learners import registry
from manyclass.core.learners.options import Options
from manyclass.core.model_set import MOST_SHADOWS, ModelSet

FF, PA, OOZ = Options(), Options.of("pa"), Options.of("ooz")
TWO = ModelSet(FF, (PA,))


def test_labels_are_specifications_that_of_the_primary_first():
    model_set = ModelSet(PA, (Options(rating=0), Options.of("pa", replay=4)))
    assert model_set.labels == ["pa", "ff(rating=0)", "pa(replay=4)"]
    assert model_set.learners == (PA, *model_set.shadows)


@pytest.mark.parametrize(
    ("shadows", "option", "message"),
    [
        ([FF], "shadows", "two learners are 'ff'"),
        ([PA, Options.of("pa", max_classes=9)], "shadows", "two learners are 'pa'"),
        ([Options(rating=n) for n in range(MOST_SHADOWS + 1)], "shadows", "15 at most"),
        (
            [
                Options.of("committee", members="+".join(["ff"] * 63), seed=seed)
                for seed in range(2)
            ],
            "shadows",
            "128 learners, members of committees counted, not 129",
        ),
        ([Options(subsample=0.5)], "subsample", "members of a committee only"),
        ([Options(shuffle=5)], "shuffle", "members of a committee only"),
    ],
)
def test_shadows_that_cannot_be_are_refused(shadows, option, message):
    with pytest.raises(OptionError, match=message) as refused:
        ModelSet(FF, tuple(shadows))
    assert refused.value.option == option


def test_the_promoted_learner_changes_places_with_the_primary():
    model_set = ModelSet(FF, (OOZ, PA))
    assert model_set.promoted("pa") == ModelSet(PA, (OOZ, FF))
    assert model_set.promoted("pa").promoted("ff") == model_set
    assert model_set.promoted("ff") is model_set
    with pytest.raises(KeyError):
        model_set.promoted("ema")


def test_is_the_same_read_back():
    model_set = ModelSet(Options(rating=3, max_bytes=2**21), (PA, Options.of("pa", replay=4)))
    assert ModelSet.from_dict(model_set.to_dict()) == model_set


def test_is_read_back_when_the_defaults_of_what_has_no_effect_have_changed(monkeypatch):
    model_set = ModelSet(Options(rating=3), (PA,))
    written = model_set.to_dict()
    monkeypatch.setitem(registry.OPTIONS, "rate", replace(registry.OPTIONS["rate"], absent=0.7))
    assert Options.of("pa").rate == 0.7
    assert ModelSet.from_dict(written).shadows == (Options.of("pa"),)


LEARNER = {"learner": "ff"}


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"primary": LEARNER | {"mystery": 1}, "shadows": []}, OptionError),
        ({"primary": {"learner": "oracle"}, "shadows": []}, OptionError),
        ({"primary": {"learner": ["ff"]}, "shadows": []}, OptionError),
        ({"primary": {}, "shadows": []}, KeyError),
        ({"primary": LEARNER, "shadows": [LEARNER | {"rating": -1}]}, OptionError),
        ({"primary": LEARNER, "shadows": [LEARNER]}, OptionError),
        ({"primary": LEARNER}, KeyError),
        ({"shadows": []}, KeyError),
        ({"primary": 5, "shadows": []}, TypeError),
        ({"primary": LEARNER, "shadows": 5}, TypeError),
        ({"primary": LEARNER, "shadows": "pa"}, ValueError),
    ],
)
def test_invalid_model_sets_are_refused(values, error):
    with pytest.raises(error):
        ModelSet.from_dict(values)


def test_the_stored_primary_stays_the_primary():
    promoted = TWO.promoted("pa")
    assert TWO.after(promoted) == promoted
    assert ModelSet(FF, (OOZ, PA)).after(promoted) == ModelSet(PA, (OOZ, FF))
    assert ModelSet(Options(rating=3), (PA,)).after(TWO) == ModelSet(Options(rating=3), (PA,))
    assert ModelSet(FF).after(TWO) == ModelSet(FF)


def test_the_stored_primary_gets_the_limits_asked_for():
    asked = ModelSet(Options(max_classes=9), (Options.of("pa", max_classes=9),))
    assert asked.after(TWO.promoted("pa")) == asked.promoted("pa")


@pytest.mark.parametrize(
    "asked", [ModelSet(PA), ModelSet(PA, (Options(rating=3),)), ModelSet(OOZ, (PA,))]
)
def test_no_other_takes_the_place_of_the_primary(asked):
    with pytest.raises(OptionError, match=r"add .* to the shadows, and promote it") as refused:
        asked.after(ModelSet(FF))
    assert refused.value.option == "learner"


def test_a_committee_of_others_is_another_learner():
    one = Options.of("committee", members="ff+pa")
    with pytest.raises(OptionError, match="to the shadows"):
        ModelSet(Options.of("committee", members="ff+ooz")).after(ModelSet(one))
    other = ModelSet(Options.of("committee", members="ff(rating=0)+pa", vote="score"))
    assert other.after(ModelSet(one)) == other


def test_learners_continue_former_ones():
    before = ModelSet(FF, (PA, Options.of("pa", negatives=2), OOZ))
    assert before.origins(before) == [0, 1, 2, 3]
    assert ModelSet(Options(rating=3), (OOZ, PA)).origins(before) == [0, 3, 1]
    # an equal specification goes before the same learner, in any order
    other = Options.of("pa", negatives=3)
    assert ModelSet(FF, (other, PA)).origins(before) == [0, 2, 1]
    assert ModelSet(FF, (other, Options.of("pa", negatives=4))).origins(before) == [0, 1, 2]
    # a shadow does not continue from the former primary
    assert ModelSet(FF, (Options(rating=3), Options.of("ema"))).origins(before) == [0, None, None]
    assert ModelSet(OOZ, (PA,)).origins(before) == [None, 1]


def test_a_learner_is_found_by_its_specification_with_the_options_in_any_order():
    learner = Options.parse("svm(C=2,C_negative=0.5)")
    model_set = ModelSet(FF, (PA, learner))
    for specification in ("svm(C=2,C_negative=0.5)", "svm(C_negative=0.5, C=2)"):
        assert model_set.find(specification) == learner
    assert model_set.find("svm(C=2)") is None
    assert model_set.find("smv(") is None


def test_differences_are_reported_by_name():
    stored = ModelSet(Options(rating=3), (PA, Options(leak=False)))
    asked = ModelSet(Options(rating=4), (OOZ, Options(leak=False, max_classes=9)))
    assert stored.differences(asked) == {
        "rating": (3, 4),
        "shadows": ("pa,ff(leak=no)", "ooz,ff(leak=no)"),
        "max_classes of ff(leak=no)": (1_000_000, 9),
    }
    assert stored.differences(stored) == {}


def test_the_order_of_shadows_makes_no_difference():
    assert ModelSet(FF, (PA, OOZ)).differences(ModelSet(FF, (OOZ, PA))) == {}
