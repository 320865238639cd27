"""manyclass advise: learners compared on the history of a running service."""

import pytest

from manyclass.client.client import Client
from tests.cli.services import new_service


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """Yield the URL of a service with a history."""
    store = tmp_path_factory.mktemp("store")
    with new_service(store=f"sqlite:{store}/a.db", learner="ff") as url:
        with Client(url) as client:
            client.learn_many(
                [
                    {"text": f"w{at % 5} v{at % 3}", "classes": [f"c{at % 5}"], "event_id": str(at)}
                    for at in range(330)
                ]
            )
        yield url


def test_the_comparison_is_printed(manyclass, taught):
    assert "no comparison since" in manyclass("advise", "--status", "--url", taught).stderr
    done = manyclass("advise", "--learner", "pa", "--url", taught)
    head, first, second, *_ = [line.split() for line in done.stdout.splitlines()]
    assert head[:4] == ["learner", "text", "R1", "R5"]
    assert (first[0], second[0]) == ("ff", "pa")
    assert "[" in second[5]
    assert done.stdout.splitlines()[-1].startswith(("Nothing tried is better", "`"))
    assert "on the newest 100 of 330 events" in done.stderr
    assert "`path` is not compared" in done.stderr
    again = manyclass("advise", "--status", "--url", taught)
    assert again.stdout == done.stdout


def test_too_few_events(manyclass, tmp_path):
    with new_service(store=f"sqlite:{tmp_path}/a.db") as url:
        refused = manyclass("advise", "--url", url, exit_code=1)
    assert "advice needs 300" in refused.stderr
    manyclass("advise", "--last", "5", "--url", url, exit_code=2)


def test_an_unknown_learner_is_told_which_there_are(manyclass, taught):
    refused = manyclass("advise", "--learner", "nosuch", "--url", taught, exit_code=1)
    assert "must be one of ff, " in refused.stderr
    assert "not 'nosuch'" in refused.stderr
    wrong = manyclass("advise", "--learner", "svm(Q=3)", "--url", taught, exit_code=1)
    assert "Q: is not an option of a learner; known are " in wrong.stderr
