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


def test_reads_the_options_older_releases_wrote():
    assert ModelSet.from_dict({"learner": "ff", "rating": 3}) == ModelSet(
        Options(rating=3, sublinear=False)
    )
    assert ModelSet.from_dict({}) == ModelSet(Options(sublinear=False))
    assert ModelSet.from_dict({"learner": "pa"}) == ModelSet(PA)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"mystery": 1}, OptionError),
        ({"learner": "oracle"}, OptionError),
        ({"learner": ["ff"]}, OptionError),
        ({"answering": {}, "shadows": [{"rating": -1}]}, OptionError),
        ({"answering": {}, "shadows": [{}]}, OptionError),
        ({"answering": {}}, KeyError),
        ({"answering": 5, "shadows": []}, TypeError),
        ({"answering": {}, "shadows": 5}, TypeError),
        ({"answering": {}, "shadows": "pa"}, ValueError),
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


FORMER = "svm(aggressiveness=2,caution=0.5)"  # with the defaults that logs have for good
PRESENT = "svm(C=2,C_negative=0.5)"


def test_logs_and_snapshots_keep_the_former_names_of_options():
    committee = Options.of("committee", members=f"{PRESENT}+ff(mass_cap=9)")
    model_set = ModelSet(committee, (Options.parse(PRESENT), Options(binarize=True)))
    written = model_set.to_dict()
    svm = "svm(aggressiveness=2,caution=0.5,max_outdegree=1000,budget=16,demands=auto,bias=0.3)"
    assert written["answering"]["members"] == f"{svm}+ff(feature_memory=9)"
    svm, ff = written["shadows"]
    assert (svm["aggressiveness"], svm["caution"], svm["demands"]) == (2.0, 0.5, "auto")
    assert (ff["boolean"], ff["feature_memory"]) == (True, 30.0)
    assert not {"C", "C_negative", "constraints", "binarize", "mass_cap"} & {*svm, *ff}
    assert ModelSet.from_dict(written) == model_set


@pytest.mark.parametrize("logged", [FORMER, PRESENT])
def test_a_learner_is_found_by_its_former_label(logged):
    learner = Options.parse_logged(FORMER)
    model_set = ModelSet(FF, (PA, learner, Options.parse(PRESENT)))
    assert model_set.find_logged(logged) == learner
    assert model_set.find(learner.specification) == learner
    assert model_set.find(PRESENT) == Options.parse(PRESENT) != learner
    assert ModelSet(FF, (PA,)).find_logged(logged) is None
    assert model_set.find_logged("smv(") is None


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
