"""The table of settings: values read, refused and shown, and the page of the documentation."""

from pathlib import Path

import pytest

from manyclass.core.text import TextAnalysis
from manyclass.service.config.reference import with_settings
from manyclass.service.config.settings import TABLE, SettingError, Settings, not_read, read

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
    told = [each.rpartition(" ")[2] for each in not_read(given | others | given_twice)]
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


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("App.Example, 10.0.0.7:8000,[::1]:80", ("app.example", "10.0.0.7", "[::1]")),
        ("::1,fe80::2", ("[::1]", "[fe80::2]")),
        ("manyclass,", ("manyclass",)),
        (",", ()),
        ("", ()),
    ],
)
def test_allowed_hosts_are_read_as_they_stand_in_a_request(text, hosts):
    given = read({"MANYCLASS_ALLOWED_HOSTS": text})
    assert given.allowed_hosts == hosts
    shown = given.shown()["MANYCLASS_ALLOWED_HOSTS"]
    assert read({"MANYCLASS_ALLOWED_HOSTS": shown}) == given


@pytest.mark.parametrize("host", ["*", "*.example", "http://app.example", "app.example/", "a b"])
def test_an_allowed_host_is_a_name(host):
    error = refused({"MANYCLASS_ALLOWED_HOSTS": f"a.example,{host}"})
    assert error.variable == "MANYCLASS_ALLOWED_HOSTS"
    assert "app.example" in error.allowed


@pytest.mark.parametrize(
    ("text", "path"),
    [("/ml", "/ml"), ("/ml/", "/ml"), ("/", ""), ("", ""), ("/a/b_1", "/a/b_1")],
)
def test_a_root_path_is_read(text, path):
    assert read({"MANYCLASS_ROOT_PATH": text}).root_path == path


@pytest.mark.parametrize("text", ["ml", "//ml", "/a//b", "/a b", "https://a.example/ml", "/ä"])
def test_what_is_no_path_is_refused(text):
    assert "/manyclass" in refused({"MANYCLASS_ROOT_PATH": text}).allowed


def test_every_value_has_a_default():
    assert read({}) == Settings()


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
        ("MANYCLASS_PORT", "\u0661", "a whole number"),
        ("MANYCLASS_STORE_SECONDS", "\uff11", "a number of seconds"),
        ("MANYCLASS_PORT", "65536", "a whole number from 0 to 65535"),
        ("MANYCLASS_MAX_BATCH", "1.5", "a whole number"),
        ("MANYCLASS_SNAPSHOT_SECONDS", "nan", "a number of seconds"),
        ("MANYCLASS_LEARNER", "ff(min_weight=1)", "min_weight: must be in [0, 1)"),
        ("MANYCLASS_SNAPSHOT_SECONDS", "-1", "a number of seconds, at least 0"),
        ("MANYCLASS_SNAPSHOT_KEEP", "0", "at least 1"),
        ("MANYCLASS_MAX_BYTES", "64 MB", "a number of bytes, such as 1048576 or 1MiB"),
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
    assert refused({}, port="x").variable == "--port"
    assert refused({"MANYCLASS_PORT": "y"}, port="1").variable == "MANYCLASS_PORT"


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


@pytest.mark.parametrize(
    "text", ["two words", "a,,b", "schlüssel", "a\tb", "anna:se:cret", "anna:"]
)
def test_a_bad_key_is_refused_without_showing_it(text):
    error = refused({"MANYCLASS_LEARN_KEYS": text})
    assert error.variable == "MANYCLASS_LEARN_KEYS"
    assert text not in f"{error} {error!r} {error.__cause__}"


@pytest.mark.parametrize(
    ("learn", "admin"), [("anna:hush,ben:hush", "a"), ("hush", "ben:hush"), ("anna:hush", "hush")]
)
def test_a_key_with_two_names_is_refused_without_showing_it(learn, admin):
    error = refused({"MANYCLASS_LEARN_KEYS": learn, "MANYCLASS_ADMIN_KEYS": admin})
    assert error.variable == ("MANYCLASS_ADMIN_KEYS" if "hush" in admin else "MANYCLASS_LEARN_KEYS")
    assert "anna:KEY-1,ben:KEY-2" in error.allowed
    assert "hush" not in f"{error} {error!r}"


def test_a_key_may_have_one_name_in_two_scopes():
    settings = read({"MANYCLASS_LEARN_KEYS": "anna:hush,k", "MANYCLASS_ADMIN_KEYS": "anna:hush,k"})
    assert settings.admin_keys == ("anna:hush", "k")


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
        ("redis://s3cret@host", "redis://(hidden)@host"),
        ("redis:/:s3cret@host", "redis:/:(hidden)@host"),
        ("redis:u:s3cret@host", "redis:u:(hidden)@host"),
        ("u:s3cret@host:6379", "u:(hidden)@host:6379"),
        ("//s3cret@host", "(hidden)@host"),
        ("sqlite:./a:b@c.db", "sqlite:./a:b@c.db"),
    ],
)
def test_a_password_in_the_url_of_the_store_is_never_shown(url, shown):
    settings = read({"MANYCLASS_STORE": url})
    assert settings.store == url
    assert settings.shown()["MANYCLASS_STORE"] == shown
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("setting", "value", "others"),
    [
        ("host", "0.0.0.0", {}),
        ("archive", "file:///tmp/archive", {"store": "memory:"}),
        ("max_buffered_bytes", "1MiB", {}),
        ("learner", "svm", {"shadows": "svm"}),
    ],
)
def test_a_setting_that_is_refused_beside_others_is_named_as_it_was_given(setting, value, others):
    variable, flag = f"MANYCLASS_{setting.upper()}", f"--{setting.replace('_', '-')}"
    assert refused({variable: value}, **others).variable in (variable, "--shadows")
    assert refused({}, **{setting: value}, **others).variable in (flag, "--shadows")


@pytest.mark.parametrize("given_as", ["MANYCLASS_TEXT", "--text"])
def test_another_analysis_of_texts_is_named_as_it_was_given(given_as):
    environment, overrides = {"MANYCLASS_TEXT": "words"}, {}
    if given_as == "--text":
        overrides = {"text": "words"}
    with pytest.raises(SettingError) as caught:
        read(environment, overrides).check_text(TextAnalysis.parse("words+pairs"))
    assert str(caught.value) == (
        f"{given_as}='words': the store has learned with words+pairs, and another text analysis"
        f" makes other features: start with {given_as}=words+pairs or without it; `manyclass"
        " rebuild --text words` then changes the store to words, if its history reaches"
        " back to the first event"
    )
