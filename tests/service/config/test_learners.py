"""The settings about learners, beside the stored model, and options given as settings."""

import shlex

import pytest

from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.service.config.learners import as_variables
from manyclass.service.config.settings import SettingError, Settings, read


def settings_of(variables):
    return read({f"MANYCLASS_{name}": text for name, text in variables.items()})


def model_set(**variables):
    return settings_of(variables).model_set()


def refusal_of(variables):
    with pytest.raises(SettingError) as caught:
        settings_of(variables)
    return caught.value


def test_the_learner_of_a_new_store():
    assert model_set() == ModelSet(Options.of(DEFAULT_LEARNER))
    assert model_set(LEARNER="pa") == ModelSet(Options.of("pa"))
    assert model_set(LEARNER="pa(replay=4)") == ModelSet(Options.of("pa", replay=4))


def test_shadows_have_the_limits_of_the_primary_and_nothing_else_of_it():
    made = model_set(
        LEARNER="svm(rating=3)", SHADOWS="pa(replay=4,negatives=2), ff(rating=0)", MAX_CLASSES="7"
    )
    assert made.primary == Options.of("svm", rating=3, max_classes=7)
    assert made.shadows == (
        Options.of("pa", replay=4, negatives=2, max_classes=7),
        Options(rating=0, max_classes=7),
    )
    [own] = model_set(SHADOWS="pa(max_classes=9)", MAX_CLASSES="7").shadows
    assert own.max_classes == 9


@pytest.mark.parametrize(
    ("variables", "variable", "value", "allowed"),
    [
        (
            *({"LEARNER": "pa(max_classes=4)", "MAX_CLASSES": "5"}, "MAX_CLASSES", "5"),
            "contradicts MANYCLASS_LEARNER='pa(max_classes=4)'",
        ),
        ({"LEARNER": "pa(leak=no)"}, "LEARNER", "pa(leak=no)", "leak: has no effect"),
        ({"LEARNER": "committee"}, "LEARNER", "committee", "members: must name"),
        ({"LEARNER": "ff(shuffle=9)"}, "LEARNER", "ff(shuffle=9)", "shuffle: is for the members"),
        ({"LEARNER": "ff", "SHADOWS": "ff"}, "SHADOWS", "ff", "two learners are 'ff'"),
        ({"SHADOWS": "pa,pa"}, "SHADOWS", "pa,pa", "two learners are 'pa'"),
        ({"SHADOWS": "pa(shuffle=9)"}, "SHADOWS", "pa(shuffle=9)", "for the members"),
        ({"LEARNER": "pa(C_negative=1)"}, "LEARNER", "pa(C_negative=1)", "only on svm"),
        ({"LEARNER": "svm(C_negative=-1)"}, "LEARNER", "svm(C_negative=-1)", "C_negative: must be"),
        ({"SHADOWS": "pa(rating=-1)"}, "SHADOWS", "pa(rating=-1)", "rating: must be"),
        ({"SHADOWS": "pa(rating=0"}, "SHADOWS", "pa(rating=0", "no closing parenthesis"),
    ],
)
def test_learners_that_cannot_be_are_refused_by_the_setting_that_asks_for_them(
    variables, variable, value, allowed
):
    error = refusal_of(variables)
    assert (error.variable, error.value) == (f"MANYCLASS_{variable}", repr(value))
    assert allowed in error.allowed


@pytest.mark.parametrize(
    ("variables", "labels"),
    [
        ({}, ["pa(replay=4)", "ff", "ema"]),
        ({"LEARNER": ""}, ["pa(replay=4)", "ff", "ema"]),
        ({"LEARNER": "pa"}, ["pa(replay=4)", "ff", "ema"]),  # any pa
        ({"LEARNER": "pa(replay=0)"}, ["pa", "ff", "ema"]),
        ({"LEARNER": "pa(negatives=2)"}, ["pa(negatives=2)", "ff", "ema"]),
        ({"LEARNER": "ff"}, ["ff", "pa(replay=4)", "ema"]),
        ({"LEARNER": "arow"}, ["arow", "ff", "ema"]),
        ({"SHADOWS": ""}, ["pa(replay=4)", "ff", "ema"]),
        ({"SHADOWS": "none"}, ["pa(replay=4)"]),
        ({"SHADOWS": "ind"}, ["pa(replay=4)", "ind"]),
        ({"SHADOWS": "ff,ema"}, ["pa(replay=4)", "ff", "ema"]),
        ({"SHADOWS": "ema, pa(replay=4)"}, ["ff", "ema", "pa(replay=4)"]),  # it was promoted
        (
            {"LEARNER": "ff(rating=3)", "SHADOWS": "ema, pa(replay=4)"},
            ["ff(rating=3)", "ema", "pa(replay=4)"],
        ),
    ],
)
def test_omitted_settings_keep_their_stored_values(variables, labels):
    stored = ModelSet(Options.of("pa", replay=4), (Options(), Options.of("ema")))
    assert settings_of(variables).model_set(stored).labels == labels


def test_shadows_that_need_another_learner_than_that_of_a_new_store():
    with pytest.raises(SettingError, match="two learners are 'svm'"):
        model_set(SHADOWS="svm")


@pytest.mark.parametrize(
    ("variables", "limits"),
    [
        ({}, [100, 200]),
        ({"MAX_CLASSES": "50"}, [50, 50]),
        ({"SHADOWS": "pa"}, [100, 200]),
        ({"SHADOWS": "pa", "MAX_CLASSES": "50"}, [50, 50]),
        ({"SHADOWS": "pa(max_classes=70)", "MAX_CLASSES": "50"}, [50, 70]),
        ({"SHADOWS": "pa,ema"}, [100, 200, 100]),
        ({"LEARNER": "ff", "SHADOWS": "ema,pa"}, [100, 100, 200]),
        ({"LEARNER": "pa", "SHADOWS": "ff"}, [200, 100]),
        ({"LEARNER": "ff(max_classes=9)", "SHADOWS": "pa,ema"}, [9, 200, 9]),
        ({"LEARNER": "ff(rating=0)", "SHADOWS": "none"}, [100]),
    ],
)
def test_a_limit_holds_for_every_learner_and_stays_where_none_is_given(variables, limits):
    stored = ModelSet(Options(max_classes=100), (Options.of("pa", max_classes=200),))
    assert [
        each.max_classes for each in settings_of(variables).model_set(stored).learners
    ] == limits


def test_the_limits_of_a_new_store_are_those_of_the_primary():
    made = model_set(LEARNER="pa(max_features=100)", SHADOWS="ff")
    assert [each.max_features for each in made.learners] == [100, 100]


@pytest.mark.parametrize(
    ("stored", "asked", "differs"),
    [
        ("svm", "svm", False),
        ("svm(rating=3)", None, False),
        ("svm(rating=3)", "svm", False),  # a name alone means any learner of this name
        ("svm(rating=3)", "svm(C=2)", True),  # with an option, the others have their defaults
        ("svm(rating=3)", "svm(fast)", True),
        ("svm(replay=0)", "svm(fast)", False),
        ("svm(max_outdegree=50,budget=0)", "svm", False),
        ("svm(replay=4)", "svm(replay=4)", False),
        ("svm(replay=4)", "svm(replay=8)", True),
        ("svm(rating=3)", "svm(rating=3)", False),
        ("svm(C_negative=0.5)", "svm(C_negative=0.5)", False),
        ("svm(max_classes=9)", "svm", False),
    ],
)
def test_when_a_start_goes_on_with_the_stored_options(stored, asked, differs):
    before = ModelSet(Options.parse(stored))
    after = Settings(learner=asked).model_set(before).after(before)
    assert bool(before.differences(after)) == differs


def test_a_name_alone_means_the_stored_primary_even_beside_the_new_default():
    other = Options.parse("svm(max_outdegree=50,budget=0)")
    given = {"LEARNER": "svm", "SHADOWS": "svm(max_outdegree=1000)"}
    asked = settings_of(given).model_set(ModelSet(other))
    assert asked.learners == (other, Options.of("svm"))
    for again in (given, {"LEARNER": "svm"}):
        assert settings_of(again).model_set(asked).after(asked).learners == asked.learners


def test_a_name_alone_does_not_mean_a_learner_that_a_shadow_means():
    """A shadow that was promoted stays a shadow in the settings."""
    promoted = ModelSet(Options(rating=0), (Options(), Options.of("pa")))
    asked = settings_of({"LEARNER": "ff", "SHADOWS": "pa,ff(rating=0)"}).model_set(promoted)
    assert asked.after(promoted).primary == promoted.primary
    assert {*asked.learners} == {*promoted.learners}


def test_the_stored_learners_are_written_as_they_can_be_given():
    stored = ModelSet(
        Options.parse("svm(rating=3,C=2,max_bytes=2097152)"), (Options.of("pa", max_classes=7),)
    )
    written = as_variables(stored)
    assert written == (
        "MANYCLASS_LEARNER='svm(rating=3,C=2,max_bytes=2097152)'"
        " MANYCLASS_SHADOWS='pa(max_classes=7)'"
    )
    variables = dict(each.split("=", 1) for each in shlex.split(written))
    assert not stored.differences(read(variables).model_set(stored))
    assert as_variables(ModelSet(Options.of("pa"))).endswith("MANYCLASS_SHADOWS='none'")


def test_shown_learners_read_back():
    variables = {"LEARNER": "pa(replay=4)", "SHADOWS": "ff,pa(rating=2)", "MAX_CLASSES": "7"}
    settings = settings_of(variables)
    shown = settings.shown()
    assert shown["MANYCLASS_LEARNER"] == "pa(replay=4)"
    assert shown["MANYCLASS_MAX_BYTES"] == ""
    assert read(shown).model_set() == settings.model_set()
    promoted = settings.model_set().promoted("ff")
    assert read(settings.shown(Model(promoted))).model_set() == promoted
