"""Variables that Kubernetes and Docker set beside ours are told from settings by their form."""

import pytest

from manyclass.service.config.links import is_link
from manyclass.service.config.settings import TABLE, SettingError, Settings, not_read, read

SERVICE = {  # of the kubelet, for a Service `manyclass` with a port `http`
    "MANYCLASS_SERVICE_HOST": "10.0.0.1",
    "MANYCLASS_SERVICE_PORT": "80",
    "MANYCLASS_SERVICE_PORT_HTTP": "80",
    "MANYCLASS_PORT": "tcp://10.0.0.1:80",
    "MANYCLASS_PORT_80_TCP": "tcp://10.0.0.1:80",
    "MANYCLASS_PORT_80_TCP_PROTO": "tcp",
    "MANYCLASS_PORT_80_TCP_PORT": "80",
    "MANYCLASS_PORT_80_TCP_ADDR": "10.0.0.1",
}
NEIGHBOURS = {  # of Services `manyclass-redis` and `manyclass-store`, with several protocols
    "MANYCLASS_REDIS_SERVICE_HOST": "fd00::1",
    "MANYCLASS_REDIS_SERVICE_PORT": "6379",
    "MANYCLASS_REDIS_SERVICE_PORT_REDIS_TLS": "6380",
    "MANYCLASS_REDIS_PORT": "tcp://[fd00::1]:6379",
    "MANYCLASS_REDIS_PORT_6379_TCP": "tcp://[fd00::1]:6379",
    "MANYCLASS_STORE_PORT": "udp://10.0.0.3:53",
    "MANYCLASS_STORE_PORT_53_UDP_ADDR": "10.0.0.3",
    "MANYCLASS_STORE_PORT_9_SCTP_PROTO": "sctp",
}
LINKED = {  # of Docker, for `--link other:manyclass`
    "MANYCLASS_NAME": "/web/manyclass",
    "MANYCLASS_PORT": "tcp://172.17.0.5:8000",
    "MANYCLASS_PORT_8000_TCP": "tcp://172.17.0.5:8000",
    "MANYCLASS_PORT_8000_TCP_ADDR": "172.17.0.5",
    "MANYCLASS_PORT_8000-8001_TCP_START": "tcp://172.17.0.5:8000",
    "MANYCLASS_PORT_8000-8001_TCP_END": "tcp://172.17.0.5:8001",
    "MANYCLASS_ENV_MANYCLASS_STORE": "sqlite:/data/manyclass.db",
    "MANYCLASS_ENV_PATH": "/usr/bin",
    "MANYCLASS_ENV_rank_keys": "sesame",
    "MANYCLASS_1_PORT": "tcp://172.17.0.5:8000",
}


@pytest.mark.parametrize("links", [SERVICE, NEIGHBOURS, LINKED], ids=["own", "others", "docker"])
def test_they_are_left_alone_and_told_of_in_one_line(links):
    settings = read({"MANYCLASS_MAX_BATCH": "7", **links})
    assert settings == Settings(max_batch=7)
    assert settings.port == 8000
    [told] = not_read(links)
    assert told.startswith("ignored, because Kubernetes or Docker sets them")
    assert all(name in told for name in links)
    assert not any(value in told for value in links.values() if "." in value)
    assert "sesame" not in told


def test_the_command_line_still_sets_the_port():
    assert read(SERVICE, {"port": "9000"}).port == 9000


def test_no_setting_has_such_a_name():
    assert not any(is_link(row.name.upper(), "8000") for row in TABLE)


@pytest.mark.parametrize("text", ["8001", "http", "localhost:8000", ""])
def test_a_port_that_is_none_of_theirs_is_the_setting(text):
    if text.isdigit():
        assert read({"MANYCLASS_PORT": text}).port == int(text)
    else:
        with pytest.raises(SettingError, match="a whole number"):
            read({"MANYCLASS_PORT": text})


@pytest.mark.parametrize("name", ["VERSION", "IMAGE", "LOG_LEVEL", "NAME", "DATA_DIR", "REDIS_URL"])
def test_a_name_that_is_close_to_no_setting_is_told_of(name):
    given = {f"MANYCLASS_{name}": "hush"}
    assert read(given) == Settings()
    [told] = not_read(given)
    assert told.startswith(f"MANYCLASS_{name} is ignored: there is no such setting")
    assert "hush" not in told


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PROT", "PORT"),
        ("RANK_KEY", "RANK_KEYS"),
        ("LEARNKEYS", "LEARN_KEYS"),
        ("Port", "PORT"),
        ("max_batch", "MAX_BATCH"),
        ("LERNER", "LEARNER"),
        ("ALLOWED_ORIGIN", "ALLOWED_ORIGINS"),
    ],
)
def test_a_name_that_is_close_to_a_setting_ends_the_start(name, meant):
    with pytest.raises(SettingError, match=f"did you mean MANYCLASS_{meant}") as caught:
        read({f"MANYCLASS_{name}": "hush"})
    assert "hush" not in str(caught.value)
