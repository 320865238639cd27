import pytest

from manyclass.service.config.settings import TABLE, Settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    for row in TABLE:
        monkeypatch.delenv(row.variable, raising=False)
        monkeypatch.delenv(row.name.upper(), raising=False)


def shown(result):
    lines = (line.split("#") for line in result.stdout.splitlines())
    return {value.strip().partition("=")[0]: (value.strip(), source) for value, source in lines}


def test_every_setting_is_shown_with_its_default(manyclass):
    table = shown(manyclass("config"))
    assert list(table) == [row.variable for row in TABLE]
    assert table["MANYCLASS_PORT"] == ("MANYCLASS_PORT=8000", " default")


def test_the_command_line_wins_over_the_environment(manyclass, monkeypatch):
    monkeypatch.setenv("MANYCLASS_PORT", "1")
    monkeypatch.setenv("MANYCLASS_MAX_BATCH", "7")
    monkeypatch.setenv("MANYCLASS_RECONFIGURE", "yes")
    table = shown(manyclass("config", "--port", 2, "--no-reconfigure", "--insecure-open"))
    assert table["MANYCLASS_PORT"] == ("MANYCLASS_PORT=2", " command line")
    assert table["MANYCLASS_MAX_BATCH"] == ("MANYCLASS_MAX_BATCH=7", " environment")
    assert table["MANYCLASS_RECONFIGURE"] == ("MANYCLASS_RECONFIGURE=no", " command line")
    assert table["MANYCLASS_INSECURE_OPEN"] == ("MANYCLASS_INSECURE_OPEN=yes", " command line")


def test_settings_of_the_model_that_are_not_given_are_empty(manyclass, monkeypatch):
    monkeypatch.setenv("MANYCLASS_MAX_CLASSES", "5")
    table = shown(manyclass("config"))
    assert table["MANYCLASS_MAX_CLASSES"] == ("MANYCLASS_MAX_CLASSES=5", " environment")
    for name in ("LEARNER", "SHADOWS", "MAX_BYTES"):
        assert table[f"MANYCLASS_{name}"] == (f"MANYCLASS_{name}=", " not given")
    table = shown(manyclass("config", "--learner", "ema(replay=4)"))
    assert table["MANYCLASS_LEARNER"] == ("MANYCLASS_LEARNER=ema(replay=4)", " command line")


def test_keys_are_never_shown(manyclass, monkeypatch):
    monkeypatch.setenv("MANYCLASS_RANK_KEYS", "sesame,open")
    result = manyclass("config", "--learn-keys", "abracadabra")
    assert "sesame" not in result.output
    assert "abracadabra" not in result.output
    assert shown(result)["MANYCLASS_RANK_KEYS"][0] == "MANYCLASS_RANK_KEYS=2 (hidden)"


@pytest.mark.parametrize("command", ["config", "serve"])
def test_each_setting_is_an_option_with_its_help(manyclass, command):
    text = " ".join(manyclass(command, "--help").stdout.split())
    for row in TABLE:
        assert f"{row.flag} " in text
        assert row.help in text


@pytest.mark.parametrize("command", ["config", "serve"])
def test_a_value_that_cannot_be_used_is_one_line(manyclass, command):
    result = manyclass(command, "--max-batch", "0", exit_code=2)
    assert result.stderr.startswith("manyclass: --max-batch='0': must be")
    assert len(result.stderr.splitlines()) == 1


def test_a_misspelt_variable_is_an_error_but_the_client_s_own_are_not(manyclass, monkeypatch):
    monkeypatch.setenv("MANYCLASS_URL", "http://elsewhere")
    monkeypatch.setenv("MANYCLASS_KEY", "sesame")
    manyclass("config")
    monkeypatch.setenv("MANYCLASS_PROT", "1")
    result = manyclass("config", exit_code=2)
    assert "did you mean MANYCLASS_PORT?" in result.stderr
    monkeypatch.delenv("MANYCLASS_PROT")
    monkeypatch.setenv("MANYCLASS_VERSION", "1")
    warned = "manyclass: warning: MANYCLASS_VERSION is ignored: there is no such setting;"
    assert warned in manyclass("config").stderr


@pytest.mark.parametrize("command", ["config", "serve"])
def test_a_key_without_the_prefix_is_refused(manyclass, monkeypatch, command):
    monkeypatch.setenv("RANK_KEYS", "sesame")
    result = manyclass(command, "--store", "memory:", exit_code=2)
    assert result.stderr == "manyclass: RANK_KEYS=(hidden): is ignored; write MANYCLASS_RANK_KEYS\n"


def test_a_name_without_the_prefix_is_warned_of_once(manyclass, monkeypatch):
    monkeypatch.setenv("MAX_BATCH", "5")
    monkeypatch.setenv("PORT", "5")
    warning = (
        "manyclass: warning: MAX_BATCH is ignored; the name of the setting is MANYCLASS_MAX_BATCH\n"
    )
    assert manyclass("config").stderr == warning
    assert manyclass("config", "--max-batch", "5").stderr == ""


def test_the_key_of_a_client_is_not_taken_for_one_of_the_service(manyclass, monkeypatch):
    monkeypatch.setenv("MANYCLASS_KEY", "sesame")
    result = manyclass("config")
    assert "MANYCLASS_KEY is a client's" in result.stderr
    assert "sesame" not in result.output
    assert manyclass("config", "--rank-keys", "sesame").stderr == ""


def test_the_key_of_a_server_of_embeddings_is_no_setting(manyclass, monkeypatch):
    monkeypatch.setenv("MANYCLASS_EMBED_KEY", "sesame")
    assert manyclass("config").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["sevre"], "serve"),
        (["learners", "promot"], "promote"),
        (["serve", "--stor", "memory:"], "--store"),
        (["config", "--learner", "smv"], "did you mean `svm`?"),
        (["config", "--learner", "pa(replya=4)"], "did you mean `replay`?"),
        (["config", "--shadows", "ff,amd(rate=1)"], "must be one of ff, ind"),
    ],
)
def test_a_misspelling_is_answered_with_a_suggestion(manyclass, arguments, meant):
    result = manyclass(*arguments, exit_code=2)
    assert meant in result.stderr


def test_serve_runs_with_what_config_shows(manyclass, monkeypatch):
    given = []
    monkeypatch.setattr("manyclass.service.http.server.run", given.append)
    monkeypatch.setenv("MANYCLASS_MAX_BATCH", "7")
    manyclass("serve", "--store", "memory:", "--port", "0")
    assert given == [Settings(store="memory:", port=0, max_batch=7)]
