import json

import pytest
from typer.testing import CliRunner

from studies.compare import app
from studies.peers import PEERS


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(
        "".join(
            json.dumps({"features": [f"f{at % 3}"], "classes": [f"c{at % 3}"]}) + "\n"
            for at in range(60)
        )
    )
    return str(file)


def test_peers_are_compared_on_own_files(rows):
    arguments = [rows, "--peers", "unweighted", "--splits", "1"]

    result = CliRunner().invoke(app, arguments, obj=PEERS)

    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.stdout.splitlines() if line][2:] == [
        "svm",
        "unweighted",
    ]


def test_an_unknown_peer_is_refused_with_those_there_are(rows):
    result = CliRunner().invoke(app, [rows, "--peers", "nobody"], obj=PEERS)

    assert result.exit_code == 2
    assert "linearsvc" in result.output
