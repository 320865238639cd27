import pytest

from tests.cli.services import new_service
from tests.service.serving import KEYS

COMMANDS = ["learn -", "rank - --ignore-unknown", "demo", "learners list", "snapshot list"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_service_that_does_not_answer_is_one_line(manyclass, nobody, command):
    body = '{"text": "x", "classes": ["a"]}'
    result = manyclass(*command.split(), "--url", nobody, input=body, exit_code=3)
    assert result.stderr.splitlines() == [
        f"manyclass: no answer from {nobody}: [Errno 111] Connection refused."
        " Is the service running? `manyclass serve` starts one;"
        " --url or MANYCLASS_URL names one at another address."
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "401 Unauthorized: A key is needed: Authorization: Bearer KEY."),
        (("--key", "wrong"), "401 Unauthorized: This key is unknown."),
        (("--key", "r"), "403 Forbidden: This call needs a key with the scope learn."),
    ],
)
def test_a_key_that_lacks_is_named_with_its_option(manyclass, given, said):
    with new_service(**KEYS) as url:
        result = manyclass("review", "--url", url, *given, exit_code=1)
    remedy = "MANYCLASS_KEY or --key names a key."
    assert result.stderr == f"manyclass: the service refused: {said} {remedy}\n"


SECRETS = [
    ("http://anna:s3cret@127.0.0.1:9", "key", 3),
    ("anna:s3cret@127.0.0.1:9", "key", 3),
    ("http://anna:s3c#ret@127.0.0.1:9", "key", 2),
    ("http://127.0.0.1:9", "s3cret\ns3cret", 2),
    ("http://127.0.0.1:9", "s3crét", 2),
]


@pytest.mark.parametrize(("url", "key", "exit_code"), SECRETS)
@pytest.mark.parametrize("command", ["learners list", "learn -", "events delete 1 --yes"])
def test_neither_a_key_nor_a_password_is_shown(manyclass, command, url, key, exit_code):
    environment = {"MANYCLASS_URL": url, "MANYCLASS_KEY": key}
    result = manyclass(*command.split(), env=environment, input="", exit_code=exit_code)
    [line] = result.stderr.splitlines()
    assert not any(part in line for part in ("s3c", "ret", "anna", "'cr"))


def test_a_store_that_is_refused_is_shown_without_its_password(manyclass):
    result = manyclass("store", "accept", "redis://:s3cret@host", exit_code=2)
    assert "s3cret" not in result.output


def test_no_name_of_a_file_steers_the_terminal(manyclass, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("te\x1b[2Jxt,class\na,b\n")
    refused = manyclass("learn", file, "--text-column", "3", exit_code=2)
    assert "\x1b" not in refused.stderr
    assert r"the columns are te\x1b[2Jxt, class" in refused.stderr
