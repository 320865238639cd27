"""The table of settings: values read, refused and shown, and the page of the documentation."""

import shlex
from pathlib import Path

import pytest

from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER, NAMES
from manyclass.core.model_set import ModelSet
from manyclass.service.config.learners import as_variables
from manyclass.service.config.reference import with_settings
from manyclass.service.config.settings import (
    TABLE,
    SettingError,
    Settings,
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


def model_set(**variables):
    return read({f"MANYCLASS_{name}": text for name, text in variables.items()}).model_set()


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
        Options.of("pa", replay=4, rivals=2, max_classes=7),
        Options(rating=0, max_classes=7),
    )
    [own] = model_set(SHADOWS="pa(max_classes=9)", MAX_CLASSES="7").shadows
    assert own.max_classes == 9


@pytest.mark.parametrize(
    ("variables", "variable", "value", "allowed"),
    [
        (
            *({"LEARNER": "pa(max_classes=4)", "MAX_CLASSES": "5"}, "MAX_CLASSES", "5"),
            "MANYCLASS_LEARNER says otherwise: 'pa(max_classes=4)'",
        ),
        ({"LEARNER": "pa(leak=no)"}, "LEARNER", "pa(leak=no)", "leak: has no effect"),
        ({"LEARNER": "committee"}, "LEARNER", "committee", "members: must name"),
        ({"LEARNER": "ff(shuffle=9)"}, "LEARNER", "ff(shuffle=9)", "shuffle: is for the members"),
        ({"LEARNER": "ff", "SHADOWS": "ff"}, "SHADOWS", "ff", "two learners are 'ff'"),
        ({"SHADOWS": "pa,pa"}, "SHADOWS", "pa,pa", "two learners are 'pa'"),
        ({"SHADOWS": "pa(shuffle=9)"}, "SHADOWS", "pa(shuffle=9)", "for the members"),
        ({"LEARNER": "pa(caution=1)"}, "LEARNER", "pa(caution=1)", "only on svm"),
        ({"LEARNER": "svm(caution=-1)"}, "LEARNER", "svm(caution=-1)", "C_negative: must be"),
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
        ({"LEARNER": ""}, ["pa(replay=4)", "ff", "ema"]),
        ({"LEARNER": "pa"}, ["pa", "ff", "ema"]),
        ({"LEARNER": "pa(negatives=2)"}, ["pa(negatives=2)", "ff", "ema"]),
        ({"LEARNER": "ff"}, ["ff", "pa(replay=4)", "ema"]),
        ({"LEARNER": "arow"}, ["arow", "ff", "ema"]),
        ({"SHADOWS": ""}, ["pa(replay=4)", "ff", "ema"]),
        ({"SHADOWS": "none"}, ["pa(replay=4)"]),
        ({"SHADOWS": "ind"}, ["pa(replay=4)", "ind"]),
        ({"SHADOWS": "ema, pa(replay=4)"}, ["ff", "ema", "pa(replay=4)"]),  # it was promoted
        (
            {"LEARNER": "ff(rating=3)", "SHADOWS": "ema, pa(replay=4)"},
            ["ff(rating=3)", "ema", "pa(replay=4)"],
        ),
    ],
)
def test_omitted_settings_keep_their_stored_values(variables, labels):
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
    ],
)
def test_shadows_without_a_learner_are_beside_the_stored_one(variables, stored, labels):
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


def test_the_limits_of_a_new_store_are_those_of_the_primary():
    made = model_set(LEARNER="pa(max_features=100)", SHADOWS="ff")
    assert [each.max_features for each in made.learners] == [100, 100]


@pytest.mark.parametrize(
    ("stored", "asked", "differs"),
    [
        ("svm", "svm", False),
        ("svm(rating=3)", None, False),
        ("svm(rating=3)", "svm", True),  # a named learner has the defaults of omitted options
        ("svm(rating=3)", "svm(rating=3)", False),
        ("svm(caution=0.5)", "svm(C_negative=0.5)", False),
        ("svm(C_negative=0.5)", "svm(caution=0.5)", False),
        ("svm(max_classes=9)", "svm", False),
    ],
)
def test_when_a_start_goes_on_with_the_stored_options(stored, asked, differs):
    before = ModelSet(Options.parse(stored))
    after = Settings(learner=asked).model_set(before).after(before)
    assert bool(before.differences(after)) == differs


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


def test_what_is_shown_of_the_learners_reads_back():
    variables = {"LEARNER": "pa(replay=4)", "SHADOWS": "ff,pa(rating=2)", "MAX_CLASSES": "7"}
    settings = read({f"MANYCLASS_{name}": text for name, text in variables.items()})
    shown = settings.shown()
    assert shown["MANYCLASS_LEARNER"] == "pa(replay=4)"
    assert shown["MANYCLASS_MAX_BYTES"] == ""
    assert read(shown).model_set() == settings.model_set()
    promoted = settings.model_set().promoted("ff")
    assert read(settings.shown(promoted)).model_set() == promoted


FORMER_SETTINGS = (
    *("margin_threshold", "min_weight", "max_outdegree", "rating", "leak", "boolean", "normalize"),
    *("sublinear", "tfidf", "retrieval_window", "feature_memory", "rate", "epsilon", "tree"),
    *("sample", "policy", "alpha", "arity", "max_leaves", "aggressiveness", "caution", "demands"),
    *("rivals", "replay", "replay_size", "seed", "members", "vote"),
)


@pytest.mark.parametrize("name", FORMER_SETTINGS)
def test_a_former_setting_of_a_learner_is_refused(name):
    assert name in NAMES
    error = refused({f"MANYCLASS_{name.upper()}": "1"})
    assert "MANYCLASS_LEARNER=" in error.allowed
    assert "--learner " in refused({}, **{name: "1"}).allowed
    assert read({f"MANYCLASS_{name.upper()}": " "}) == Settings()  # was as if it were not given


@pytest.mark.parametrize(
    ("variables", "written"),
    [
        ({"RATING": "7"}, "svm(rating=7)"),
        ({"RATING": "0"}, "svm"),
        ({"RATING": "7", "REPLAY": "4"}, "svm(rating=7,replay=4)"),
        ({"LEARNER": "pa(replay=4)", "RIVALS": "2"}, "pa(negatives=2,replay=4)"),
        ({"LEARNER": "pa(replay=4)", "REPLAY": "5"}, "pa(replay=4)"),
        ({"LEARNER": "pa(max_classes=9)", "RIVALS": "2"}, "pa(negatives=2,max_classes=9)"),
        ({"LEAK": "OFF"}, "ff(leak=no)"),
        ({"TFIDF": "0", "SUBLINEAR": "1"}, "svm(tfidf=no)"),
        ({"LEARNER": "committee(members=ff+pa)", "VOTE": "score"}, None),
        ({"MEMBERS": "ff+pa", "VOTE": "score"}, "committee(members=ff+pa,vote=score)"),
        ({"CAUTION": "0.5"}, "svm(C_negative=0.5)"),
        ({"C": "2"}, "svm(C=2)"),
        ({"FEATURE_MEMORY": "0"}, "ff(mass_cap=0)"),
    ],
)
def test_options_of_a_learner_are_refused_with_the_specification_to_write(variables, written):
    error = refused({f"MANYCLASS_{name}": text for name, text in variables.items()})
    written = written or "committee(members=ff+pa,vote=score)"
    [told] = [each for each in shlex.split(error.allowed) if each.startswith("MANYCLASS_LEARNER=")]
    assert told.rstrip(";") == f"MANYCLASS_LEARNER={written}"
    assert read({"MANYCLASS_LEARNER": written}).model_set().primary == Options.parse(written)
    for name in variables.keys() - {"LEARNER"}:
        assert f"MANYCLASS_{name}" in str(error)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"RATING": "x"}, "rating: must be a whole number, not 'x'"),
        ({"LEAK": "maybe"}, "leak: must be yes or no, not 'maybe'"),
        ({"LEAK": "no", "VOTE": "score"}, "has no effect on learner 'svm'"),
        ({"LEARNER": "pa", "LEAK": "no"}, "leak: has no effect on learner 'pa', only on ff"),
        ({"LEARNER": "smv", "RATING": "3"}, "did you mean `svm`?"),
    ],
)
def test_options_that_fit_no_learner_are_refused_with_the_reason(variables, message):
    error = refused({f"MANYCLASS_{name}": text for name, text in variables.items()})
    assert "as in MANYCLASS_LEARNER='svm(replay=4)'" in error.allowed
    assert message in error.allowed


def test_other_variables_are_left_alone():
    assert read({"PATH": "/bin", "PORT": "1"}) == Settings()


def test_the_command_line_goes_before_the_environment():
    environment = {"MANYCLASS_PORT": "1", "MANYCLASS_MAX_BATCH": "2"}
    assert read(environment, {"port": "3"}) == Settings(port=3, max_batch=2)


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("MANYCLASS_STORE", "memory:", "store", "memory:"),
        ("MANYCLASS_PORT", " 9000 ", "port", 9000),
        ("MANYCLASS_SNAPSHOT_EVENTS", "1_000", "snapshot_events", 1000),
        ("MANYCLASS_SNAPSHOT_SECONDS", "1.5", "snapshot_seconds", 1.5),
        ("MANYCLASS_MAX_BODY_BYTES", "4096", "max_body_bytes", 4096),
        ("MANYCLASS_MAX_BODY_BYTES", "64MiB", "max_body_bytes", 64 * 2**20),
        ("MANYCLASS_MAX_BYTES", "2 gib", "max_bytes", 2 * 2**30),
        ("MANYCLASS_RECONFIGURE", "off", "reconfigure", False),
        ("MANYCLASS_INSECURE_OPEN", "TRUE", "insecure_open", True),
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
        ("MANYCLASS_MAX_BATCH", "1.5", "a whole number"),
        ("MANYCLASS_SNAPSHOT_SECONDS", "nan", "a number of seconds"),
        ("MANYCLASS_LEARNER", "ff(min_weight=1)", "min_weight: must be in [0, 1)"),
        ("MANYCLASS_SNAPSHOT_SECONDS", "-1", "a number of seconds, at least 0"),
        ("MANYCLASS_SNAPSHOT_KEEP", "0", "at least 1"),
        ("MANYCLASS_MAX_BYTES", "64 MB", "a number of bytes, as 1048576 or 1MiB"),
        ("MANYCLASS_MAX_BYTES", "1KiB", "must be in [1048576, 17179869184]"),
        ("MANYCLASS_RECONFIGURE", "maybe", "yes or no"),
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
    page = DOCUMENT.read_text(encoding="utf-8")
    assert with_settings(page) == page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == len(TABLE)
    assert with_settings(page.replace(rows[0], "")) == page


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
