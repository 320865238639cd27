import pytest

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
