"""The one table of settings: what is read, refused, shown, and written in the documentation."""

from dataclasses import fields
from pathlib import Path

import pytest

from core.options import Options
from service.settings import TABLE, SettingError, Settings, markdown, read

DOCUMENT = Path(__file__).parents[2] / "docs" / "settings.md"


def refused(environment, **overrides):
    with pytest.raises(SettingError) as caught:
        read(environment, overrides)
    return caught.value


def test_every_value_has_a_default():
    assert read({}) == Settings()


def test_the_defaults_of_the_model_are_those_of_the_core():
    assert Settings().options() == Options()


def test_every_option_of_the_model_can_be_set():
    assert {option.name for option in fields(Options)} <= {row.name for row in TABLE}
    assert read({"MANYCLASS_RATING": "3"}).options() == Options(rating=3)


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
        ("MANYCLASS_LEARNER", "svm", "'ff'"),
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
