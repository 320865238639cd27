import re
import time

import pytest

from manyclass.cli.commands.demo import QUESTIONS, ask, teach
from manyclass.cli.demo.novel import text
from manyclass.cli.environment import without_settings
from manyclass.cli.ephemeral_service import EphemeralServiceFailed, ephemeral_service
from manyclass.client.client import Client

EXCERPT = text()[:60_000]


@pytest.fixture(scope="module")
def service():
    """Yield the URL of a service for this module only, because the novel would disturb others."""
    with ephemeral_service(without_settings()) as url:
        yield url


def test_accuracy_rises_while_it_reads(manyclass, service, monkeypatch):
    monkeypatch.setattr("manyclass.cli.commands.demo.text", lambda: EXCERPT)
    monkeypatch.setattr("manyclass.cli.commands.demo.WINDOW", 1000)
    result = manyclass("demo", "--url", service)
    rows = re.findall(r"^ *([\d,]+) +(0\.\d+) +(0\.\d+) +(0\.\d+) +[\d,]+ ", result.stdout, re.M)
    r1 = [float(row[1]) for row in rows]
    assert len(rows) >= 8
    assert sum(r1[-3:]) > 1.3 * sum(r1[:3])
    assert all(first <= mrr <= 1 and first <= five for _, first, five, mrr in map(_floats, rows))
    for question in QUESTIONS:
        assert question in result.stdout


def _floats(row):
    return [float(each.replace(",", "")) for each in row]


def test_every_word_is_taught_and_those_with_the_gap_say_why(service, capsys):
    novel = "Captain Wentworth was there. " * 20 + "Alone. "
    with Client(service) as client:
        before = client.stats().learned
        began = time.monotonic()
        assert teach(client, novel, 50) == 81
        most = time.monotonic() - began
        assert client.stats().learned - before == 81
        [seconds] = re.findall(r"^81 events in (\S+) s\.", capsys.readouterr().out, re.M)
        assert float(seconds) <= most + 0.05  # rounded to a tenth
        ask(client, "Captain _ was")
        answer = capsys.readouterr().out.splitlines()
        assert answer[2].split()[0] == "Wentworth"
        assert "“Captain _” 0." in answer[2]
        ask(client, "Xyz Yzx Zxy _ Plu Ulp Lup")
        assert "no feature of this sentence is known" in capsys.readouterr().out


def test_a_service_of_its_own_leaves_nothing(manyclass, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("manyclass.cli.commands.demo.text", lambda: EXCERPT[:2000])
    monkeypatch.setenv("MANYCLASS_STORE", f"sqlite:{tmp_path / 'mine.db'}")
    monkeypatch.setenv("MANYCLASS_RANK_KEYS", "sesame")
    manyclass("demo")
    assert [path for path in tmp_path.rglob("*") if path.name != "temporary"] == []


def test_ctrl_c_ends_the_service_it_started(manyclass, monkeypatch):
    urls = []

    def interrupted(client, novel, window_size):
        urls.append(client.url)
        raise KeyboardInterrupt

    monkeypatch.setattr("manyclass.cli.commands.demo.teach", interrupted)
    manyclass("demo", exit_code=130)
    with Client(urls[0]) as client:
        assert not client.is_ready()


def test_a_service_that_cannot_start_says_why():
    with (
        pytest.raises(EphemeralServiceFailed, match="the service ended at once") as caught,
        ephemeral_service({"MANYCLASS_PORT": "x"}),
    ):
        pass
    assert "MANYCLASS_PORT" in caught.value.log
