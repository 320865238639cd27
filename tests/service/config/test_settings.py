"""The one table of settings: what is read, refused, shown, and written in the documentation."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from manyclass.core.learners.options import DEFAULT_LEARNER, LEARNERS, MATTERS, Options, defaults_of
from manyclass.core.model_set import ModelSet
from manyclass.service.config.settings import (
    _ROWS,
    TABLE,
    SettingError,
    Settings,
    markdown,
    read,
    without_prefix,
)

DOCUMENT = Path(__file__).parents[3] / "docs" / "settings.md"


def refused(environment, **overrides):
    with pytest.raises(SettingError) as caught:
        read(environment, overrides)
    return caught.value


@pytest.mark.parametrize("name", ["RANK_KEYS", "LEARN_KEYS", "ADMIN_KEYS"])
def test_a_key_without_the_prefix_is_refused_and_not_shown(name):
    for more in ({}, {f"MANYCLASS_{name}": "other"}):
        error = refused({name: "sesame"} | more)
        assert f"write MANYCLASS_{name}" in str(error)
        assert "sesame" not in str(error)
    assert read({name: ""}) == Settings()


def test_other_names_without_the_prefix_are_told_unless_other_programs_use_them():
    given = {"STORE": "memory:", "MAX_BYTES": "5", "SNAPSHOT_KEEP": "2", "LEARNER": "ff"}
    others = {"HOST": "x", "PORT": "80", "SEED": "1", "RATE": "2", "PATH": "/bin"}
    given_twice = {"MANYCLASS_SNAPSHOT_KEEP": "3"}
    told = [row.variable for row in without_prefix(given | others | given_twice)]
    assert told == ["MANYCLASS_STORE", "MANYCLASS_LEARNER", "MANYCLASS_MAX_BYTES"]
    assert read(given | others) == Settings()


@pytest.mark.parametrize(
    "origin",
    ["*", "null", "app.example", "https://", "https://a.example/", "https://a b", "https://*.a"],
)
def test_an_allowed_origin_is_one_a_browser_sends(origin):
    error = refused({"MANYCLASS_ALLOWED_ORIGINS": f"https://a.example,{origin}"})
    assert error.variable == "MANYCLASS_ALLOWED_ORIGINS"
    assert "https://app.example" in error.allowed


def test_allowed_origins_are_read_as_browsers_send_them():
    given = {"MANYCLASS_ALLOWED_ORIGINS": "https://App.example, http://[::1]:3000"}
    assert read(given).allowed_origins == ("https://app.example", "http://[::1]:3000")
    shown = read(given).shown()["MANYCLASS_ALLOWED_ORIGINS"]
    assert read({"MANYCLASS_ALLOWED_ORIGINS": shown}) == read(given)
    assert read({"MANYCLASS_ALLOWED_ORIGINS": ""}) == Settings()


def test_every_value_has_a_default():
    assert read({}) == Settings()


def test_the_defaults_of_the_model_are_those_of_the_core():
    assert Settings().options() == Options.of(DEFAULT_LEARNER)


def test_every_option_of_a_learner_can_be_set():
    of_members = {"subsample", "shuffle"}
    assert {option.name for option in fields(Options)} - of_members <= {row.name for row in TABLE}
    assert read({"MANYCLASS_RATING": "3"}).options() == Options.of(DEFAULT_LEARNER, rating=3)


def model_set(**variables):
    return read({f"MANYCLASS_{name}": text for name, text in variables.items()}).model_set()


def test_a_learner_has_its_own_defaults_until_something_else_is_said():
    assert model_set(LEARNER="pa").answering == Options.of("pa")
    assert model_set(LEARNER="pa", RATING="3", BOOLEAN="").answering == Options.of("pa", rating=3)


def test_options_may_stand_in_the_specification():
    assert model_set(LEARNER="pa(replay=4)") == ModelSet(Options.of("pa", replay=4))
    both = model_set(LEARNER="pa(replay=4)", RIVALS="2", REPLAY="4")
    assert both == ModelSet(Options.of("pa", replay=4, rivals=2))


def test_shadows_have_the_limits_of_the_one_that_answers_and_nothing_else_of_it():
    made = model_set(SHADOWS="pa(replay=4,rivals=2), ff(rating=0)", RATING="3", MAX_CLASSES="7")
    assert made.answering == Options.of(DEFAULT_LEARNER, rating=3, max_classes=7)
    assert made.shadows == (
        Options.of("pa", replay=4, rivals=2, max_classes=7),
        Options(rating=0, max_classes=7),
    )
    [own] = model_set(SHADOWS="pa(max_classes=9)", MAX_CLASSES="7").shadows
    assert own.max_classes == 9


@pytest.mark.parametrize(
    ("variables", "variable", "value", "allowed"),
    [
        ({"LEARNER": "pa(replay=4)", "REPLAY": "5"}, "REPLAY", "5", "LEARNER says otherwise"),
        ({"LEARNER": "pa(rating=0)", "RATING": "10"}, "RATING", "10", "LEARNER says otherwise"),
        ({"LEARNER": "pa", "LEAK": "no"}, "LEAK", "no", "no effect on learner 'pa'"),
        ({"LEARNER": "pa(leak=no)"}, "LEARNER", "pa(leak=no)", "leak: has no effect"),
        ({"LEARNER": "committee"}, "LEARNER", "committee", "members: must name"),
        ({"LEARNER": "ff(shuffle=9)"}, "LEARNER", "ff(shuffle=9)", "shuffle: is for the members"),
        ({"LEARNER": "ff", "SHADOWS": "ff"}, "SHADOWS", "ff", "two learners are 'ff'"),
        ({"SHADOWS": "pa,pa"}, "SHADOWS", "pa,pa", "two learners are 'pa'"),
        ({"SHADOWS": "pa(shuffle=9)"}, "SHADOWS", "pa(shuffle=9)", "for the members"),
        ({"LEAK": "no", "RATE": "0.5"}, "LEAK", "no", "no effect on learner 'svm', only on ff"),
        ({"VOTE": "all"}, "VOTE", "all", "must be one of majority"),
        ({"SHADOWS": "pa(rating=-1)"}, "SHADOWS", "pa(rating=-1)", "rating: must be"),
        ({"SHADOWS": "pa(rating=0"}, "SHADOWS", "pa(rating=0", "no closing parenthesis"),
    ],
)
def test_learners_that_cannot_be_are_refused_by_the_setting_that_asks_for_them(
    variables, variable, value, allowed
):
    error = refused({f"MANYCLASS_{name}": text for name, text in variables.items()})
    assert (error.variable, error.value) == (f"MANYCLASS_{variable}", repr(value))
    assert allowed in error.allowed


@pytest.mark.parametrize(
    ("variables", "labels"),
    [
        ({}, ["pa(replay=4)", "ff", "ema"]),
        ({"LEARNER": "", "RIVALS": "2"}, ["pa(rivals=2,replay=4)", "ff", "ema"]),
        ({"LEARNER": "ff"}, ["ff", "pa(replay=4)", "ema"]),
        ({"LEARNER": "arow"}, ["arow", "ff", "ema"]),
        ({"SHADOWS": ""}, ["pa(replay=4)", "ff", "ema"]),
        ({"SHADOWS": "none"}, ["pa(replay=4)"]),
        ({"SHADOWS": "ind"}, ["pa(replay=4)", "ind"]),
        ({"SHADOWS": "ema, pa(replay=4)"}, ["ff", "ema", "pa(replay=4)"]),  # it was promoted
        ({"SHADOWS": "ema, pa(replay=4)", "RATING": "3"}, ["ff(rating=3)", "ema", "pa(replay=4)"]),
    ],
)
def test_what_is_not_said_stays_as_it_is_stored(variables, labels):
    stored = ModelSet(Options.of("pa", replay=4), (Options(), Options.of("ema")))
    settings = read({f"MANYCLASS_{name}": text for name, text in variables.items()})
    assert settings.model_set(stored).labels == labels


@pytest.mark.parametrize(
    ("variables", "stored", "labels"),
    [
        ({"SHADOWS": "ff"}, ModelSet(Options.of("svm")), ["svm", "ff"]),
        (
            {"SHADOWS": "ff,ema"},
            ModelSet(Options.of("pa"), (Options(), Options.of("ema"))),
            ["pa", "ff", "ema"],
        ),
        ({"SHADOWS": "pa", "RATE": "0.2"}, ModelSet(Options.of("ema")), ["ema(rate=0.2)", "pa"]),
        (
            {"VOTE": "score"},
            ModelSet(Options.of("committee", members="ff+pa")),
            ["committee(members=ff+pa,vote=score)"],
        ),
        (
            {"MEMBERS": "ff+ema"},
            ModelSet(Options.of("committee", members="ff+pa")),
            ["committee(members=ff+ema)"],
        ),
    ],
)
def test_what_is_said_without_a_learner_is_about_the_stored_one(variables, stored, labels):
    settings = read({f"MANYCLASS_{name}": text for name, text in variables.items()})
    assert settings.model_set(stored).labels == labels


def test_shadows_that_need_another_learner_than_that_of_a_new_store():
    settings = read({"MANYCLASS_SHADOWS": "svm"})
    with pytest.raises(SettingError, match="two learners are 'svm'"):
        settings.model_set()


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
    settings = read({f"MANYCLASS_{name}": text for name, text in variables.items()})
    assert [each.max_classes for each in settings.model_set(stored).learners] == limits


def test_the_limits_of_a_new_store_are_those_of_the_one_that_answers():
    made = model_set(LEARNER="pa(max_features=100)", SHADOWS="ff")
    assert [each.max_features for each in made.learners] == [100, 100]


@pytest.mark.parametrize(
    ("variables", "labels"),
    [
        ({"LEAK": "no"}, ["pa", "ff(leak=no)"]),
        ({"LEAK": "no", "MAX_CLASSES": "9"}, ["pa", "ff(leak=no)"]),
        ({"RIVALS": "7"}, ["pa(rivals=7)", "ff(leak=no)"]),
        ({"MARGIN_THRESHOLD": "0.1"}, ["pa(margin_threshold=0.1)", "ff(leak=no)"]),
    ],
)
def test_options_are_about_the_learner_that_was_made_with_them(variables, labels):
    stored = ModelSet(Options.of("pa"), (Options(leak=False),))
    settings = read({f"MANYCLASS_{name}": text for name, text in variables.items()})
    assert settings.model_set(stored).after(stored).labels == labels


def test_an_option_without_effect_on_the_stored_learner_is_refused():
    with pytest.raises(SettingError) as caught:
        read({"MANYCLASS_LEAK": "no"}).model_set(ModelSet(Options.of("pa")))
    assert caught.value.variable == "MANYCLASS_LEAK"


def test_what_is_shown_of_the_learners_reads_back():
    variables = {"LEARNER": "pa(replay=4)", "SHADOWS": "ff,pa(rating=2)", "RIVALS": "2"}
    settings = read({f"MANYCLASS_{name}": text for name, text in variables.items()})
    shown = settings.shown()
    assert shown["MANYCLASS_LEARNER"] == "pa(replay=4)"
    assert shown["MANYCLASS_REPLAY"] == ""
    assert read(shown).model_set() == settings.model_set()
    promoted = settings.model_set().promoted("ff")
    assert read(settings.shown(promoted)).model_set() == promoted


def test_the_document_has_the_defaults_of_each_learner():
    head, *rows = re.findall(r"^\| (?:option|`\w+`) \|.*\|$", markdown().split("### ")[1], re.M)
    learners = re.findall(r"`(\w+)`", head)
    assert learners == list(LEARNERS)
    for row in rows:
        name, *defaults = [cell.strip("` ") for cell in row.strip("|").split("|")]
        for learner, default in zip(learners, defaults, strict=True):
            if default == "—":
                assert name not in MATTERS[learner]
            else:
                value = defaults_of(learner)[name]
                assert _ROWS[name].read(default) == (None if value == "" else value)


def test_other_variables_are_left_alone():
    assert read({"PATH": "/bin", "PORT": "1"}) == Settings()


def test_the_command_line_goes_before_the_environment():
    environment = {"MANYCLASS_PORT": "1", "MANYCLASS_RATING": "2"}
    assert read(environment, {"port": "3"}) == Settings(port=3, rating=2)


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("MANYCLASS_STORE", "memory:", "store", "memory:"),
        ("MANYCLASS_PORT", " 9000 ", "port", 9000),
        ("MANYCLASS_SNAPSHOT_EVENTS", "1_000", "snapshot_events", 1000),
        ("MANYCLASS_MARGIN_THRESHOLD", "-0.5", "margin_threshold", -0.5),
        ("MANYCLASS_SNAPSHOT_SECONDS", "1.5", "snapshot_seconds", 1.5),
        ("MANYCLASS_MAX_BODY_BYTES", "4096", "max_body_bytes", 4096),
        ("MANYCLASS_MAX_BODY_BYTES", "64MiB", "max_body_bytes", 64 * 2**20),
        ("MANYCLASS_MAX_BYTES", "2 gib", "max_bytes", 2 * 2**30),
        ("MANYCLASS_LEAK", "off", "leak", False),
        ("MANYCLASS_TFIDF", "TRUE", "tfidf", True),
        ("MANYCLASS_RANK_KEYS", "a, b", "rank_keys", ("a", "b")),
        ("MANYCLASS_RANK_KEYS", "", "rank_keys", ()),
    ],
)
def test_reads(variable, text, name, value):
    assert getattr(read({variable: text}), name) == value


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_shown_text_reads_back(row):
    assert row.read(row.text(row.default)) == row.default


@pytest.mark.parametrize(
    ("variable", "text", "allowed"),
    [
        ("MANYCLASS_PORT", "http", "a whole number from 0 to 65535"),
        ("MANYCLASS_PORT", "65536", "a whole number from 0 to 65535"),
        ("MANYCLASS_RATING", "1.5", "a whole number"),
        ("MANYCLASS_MIN_WEIGHT", "nan", "a number"),
        ("MANYCLASS_MIN_WEIGHT", "1", "at least 0 and below 1"),
        ("MANYCLASS_SNAPSHOT_SECONDS", "-1", "a number of seconds, at least 0"),
        ("MANYCLASS_SNAPSHOT_KEEP", "0", "at least 1"),
        ("MANYCLASS_MAX_BYTES", "64 MB", "a number of bytes, as 1048576 or 1MiB"),
        ("MANYCLASS_MAX_BYTES", "1KiB", "1 MiB to 16 GiB"),
        ("MANYCLASS_LEAK", "maybe", "yes or no"),
        ("MANYCLASS_LEARNER", "oracle", "one of ff, ind,"),
        ("MANYCLASS_STORE", " ", "not empty"),
    ],
)
def test_a_bad_value_is_refused_with_what_is_allowed(variable, text, allowed):
    error = refused({variable: text})
    assert error.variable == variable
    assert text.strip() in error.value
    assert allowed in error.allowed
    assert variable in str(error)


def test_a_bad_flag_is_refused_too():
    assert refused({}, port="x").variable == "MANYCLASS_PORT"


def test_a_misspelt_variable_is_refused_with_the_nearest_name():
    error = refused({"MANYCLASS_MAX_QUEUE_BITES": "1"})
    assert error.variable == "MANYCLASS_MAX_QUEUE_BITES"
    assert "MANYCLASS_MAX_QUEUE_BYTES" in error.allowed


def test_keys_are_never_shown():
    settings = read({"MANYCLASS_RANK_KEYS": "hush,quiet", "MANYCLASS_ADMIN_KEYS": "silence"})
    shown = settings.shown()
    everything = f"{settings!r} {settings} {shown}"
    assert not any(key in everything for key in ("hush", "quiet", "silence"))
    assert shown["MANYCLASS_RANK_KEYS"] == "2 (hidden)"
    assert shown["MANYCLASS_LEARN_KEYS"] == ""


@pytest.mark.parametrize("text", ["two words", "a,,b", "schlüssel", "a\tb"])
def test_a_bad_key_is_refused_without_showing_it(text):
    error = refused({"MANYCLASS_LEARN_KEYS": text})
    assert error.variable == "MANYCLASS_LEARN_KEYS"
    assert text not in f"{error} {error!r} {error.__cause__}"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
def test_without_keys_the_own_machine_is_served(host):
    assert read({"MANYCLASS_HOST": host}).without_keys


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org"])
def test_without_keys_no_other_address_is_served(host):
    assert refused({"MANYCLASS_HOST": host}).variable == "MANYCLASS_HOST"
    assert read({"MANYCLASS_HOST": host, "MANYCLASS_RANK_KEYS": "a"}).host == host
    assert read({"MANYCLASS_HOST": host, "MANYCLASS_INSECURE_OPEN": "yes"}).host == host


def test_the_document_is_this_table():
    assert DOCUMENT.read_text(encoding="utf-8") == markdown()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("redis://user:s3cret@host/0?name=x", "redis://user:(hidden)@host/0?name=x"),
        ("redis://:s3cr:et@host", "redis://:(hidden)@host"),
        ("rediss://u:p@s3cret/x@host", "rediss://u:(hidden)@host"),
        (
            "redis+sentinel://u:s3cret@a:1,b:2/m/0?sentinel_password=s3cret&name=x",
            "redis+sentinel://u:(hidden)@a:1,b:2/m/0?sentinel_password=(hidden)&name=x",
        ),
        ("sqlite:./a:b@c.db", "sqlite:./a:b@c.db"),
    ],
)
def test_a_password_in_the_url_of_the_store_is_never_shown(url, shown):
    settings = read({"MANYCLASS_STORE": url})
    assert settings.store == url
    assert settings.shown()["MANYCLASS_STORE"] == shown
    assert "s3cret" not in repr(settings)
