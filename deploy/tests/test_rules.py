"""The alert rules are rules, and fire when they should and not when they should not."""

import subprocess

import pytest

from deploy.tests.programs import DEPLOY, program


@pytest.mark.parametrize(
    "command",
    ["check config prometheus.yml", "test rules alerts_test.yml"],
)
def test_promtool_finds_nothing_wrong(command):
    done = subprocess.run(
        [program("promtool"), *command.split()],
        cwd=DEPLOY / "prometheus",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout + done.stderr
