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


def test_no_name_of_a_file_steers_the_terminal(manyclass, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("te\x1b[2Jxt,class\na,b\n")
    refused = manyclass("learn", file, "--text-column", "3", exit_code=2)
    assert "\x1b" not in refused.stderr
    assert r"the columns are te\x1b[2Jxt, class" in refused.stderr
