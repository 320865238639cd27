"""A client that a generator makes of the document ranks, learns and reads a typed refusal."""

import importlib
import json
import sys

import pytest
from openapi_python_client import generate
from openapi_python_client.config import Config, ConfigFile, MetaType

from tests.service.http.openapi.test_document import document
from tests.service.serving import KEYS, serving

STREAM = "Unsupported content type application/x-ndjson"  # the other body of /learn, left out


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Imports modules of the generated client."""
    folder = tmp_path_factory.mktemp("generated")
    source = folder / "openapi.json"
    source.write_text(json.dumps(document(**KEYS)))
    target = folder / "ranking_client"
    options = ConfigFile(post_hooks=[])
    config = Config.from_sources(options, MetaType.NONE, source, "utf-8", True, target)
    complaints = generate(config=config)
    assert [each.detail for each in complaints] == [STREAM]
    sys.path.insert(0, str(folder))
    yield lambda name: importlib.import_module(f"ranking_client.{name}")
    sys.path.remove(str(folder))


def test_it_learns_ranks_and_reads_a_typed_refusal(client):
    models = client("models")
    secured = client("client").AuthenticatedClient
    with (
        serving(**KEYS) as served,
        secured(base_url=served.url, token="a") as service,
        secured(base_url=served.url, token="wrong") as stranger,
    ):

        def call(operation, by=service, **arguments):
            return client(f"api.{operation}").sync(client=by, **arguments)

        event = models.FeaturesEvent(
            features=models.FeatureValues.from_dict({"puck": 2, "ice": 1}), classes=["hockey"]
        )
        learned = call("learn.learn", body=event)
        assert isinstance(learned, models.LearnAnswer)
        assert (learned.seq, learned.accepted, learned.rank_before) == (1, 1, None)
        many = models.LearnMany(events=[event, models.TextEvent(text="a ball", classes=["golf"])])
        learned = call("learn.learn", body=many)
        assert isinstance(learned, models.LearnManyAnswer)
        assert learned.ranks_before == [1, None]

        ranking = call("rank.rank", body=models.RankText(text="a ball", id="q-1", explain=True))
        assert isinstance(ranking, models.RankAnswer)
        assert ranking.id == "q-1"
        assert ranking.ranked[0].class_ == "golf"
        assert {vote.feature for vote in ranking.ranked[0].features} >= {"ball"}
        instances = [models.FeaturesInstance(features=["puck"]), models.TextInstance(text="ball")]
        ranking = call("rank.rank", body=models.RankMany(instances=instances, k=1))
        assert isinstance(ranking, models.RankManyAnswer)
        assert [each.ranked[0].class_ for each in ranking.results] == ["hockey", "golf"]
        late = call("learn.learn", body=models.LateLabel(id="q-1", classes=["golf"]))
        assert late.rank_before == 1

        refused = call("rank.rank", body=models.RankText(text="a", k=1001))
        assert isinstance(refused, models.Problem)
        assert refused.status == 422
        [fault] = refused.errors
        assert isinstance(fault, models.Fault)
        assert fault.pointer == "#/k"
        assert "from 1 to 1000" in fault.detail

        stats = call("stats.stats")
        assert isinstance(stats, models.Stats)
        assert stats.accuracy.additional_properties["100"].examples == 4
        assert isinstance(stats.learners[0].options, models.LearnerOptions)
        assert call("names.get_class", name="golf").learned == 2
        assert call("names.get_class", name="cricket").status == 404
        assert call("stats.stats", by=stranger).status == 401


def test_it_lists_corrects_deletes_and_learns_again(client):
    models = client("models")
    secured = client("client").AuthenticatedClient
    with serving(**KEYS) as served, secured(base_url=served.url, token="a") as service:

        def call(operation, **arguments):
            return client(f"api.{operation}").sync(client=service, **arguments)

        event = models.TextEvent(text="a ball", classes=["golf"], event_id="e-1", source="anna")
        call("learn.learn", body=event)
        [listed] = call("events.list_events", class_="golf", source="anna").events
        assert isinstance(listed, models.EventRecord)
        assert (listed.key, listed.text, listed.source) == ("e-1", "a ball", "anna")
        right = models.CorrectRequest(classes=["tennis"])
        amended = call("events.correct_event", name=listed.key, body=right)
        assert isinstance(amended, models.Amended)
        assert call("events.get_event", name="e-1").classes == ["tennis"]
        assert call("events.rebuild_status").waiting == 1
        report = call("events.rebuild")
        assert isinstance(report, models.RebuildReport)
        assert (report.base, report.corrected, report.deleted) == (0, 1, 0)
        assert call("events.delete_event", name="seq:1").deleted == 1
        assert call("events.get_event", name="e-1").status == 404
        assert call("events.delete_events", source="anna").deleted == 0
