"""The client and the real service agree on every call."""

import msgspec
import pytest

from manyclass.cli.environment import without_settings
from manyclass.cli.ephemeral_service import ephemeral_service
from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused, ServiceUnreachable
from manyclass.client.types import FeatureWeight

CHOSEN = {
    "MANYCLASS_SHADOWS": "pa(replay=1),ff(rating=0)",
    "MANYCLASS_RANK_KEYS": "may-rank",
    "MANYCLASS_LEARN_KEYS": "may-learn",
    "MANYCLASS_ADMIN_KEYS": "may-all",
}


@pytest.fixture(scope="module")
def url():
    with ephemeral_service({**without_settings(), **CHOSEN}) as url:
        yield url


@pytest.fixture
def client(url):
    with Client(url, "may-all") as client:
        yield client


def test_rank_and_learn(client):
    first = client.learn({"features": {"ice": 1.0}, "classes": ["rank and learn"]})
    assert (first.accepted, first.duplicates, first.rank_before, first.updated) == (
        1,
        0,
        None,
        True,
    )
    ranking = client.rank({"features": ["ice"], "id": "mine"}, explain=True)
    assert ranking.id == "mine"
    assert ranking.ranked[0].name == "rank and learn"
    assert ranking.ranked[0].features[0].feature == "ice"
    late = client.learn({"id": "mine", "classes": ["rank and learn"]})
    assert late.rank_before == 1
    both = client.rank_many([{"text": "nothing known"}, {"features": ["ice"]}], k=1, explain=True)
    assert [len(result.ranked) for result in both.results] == [0, 1]
    assert both.results[1].ranked[0].features[0].feature == "ice"
    assert both.seq == late.seq
    assert client.rank({"text": "a"}, min_seq=late.seq).ranked == ()


def test_a_ranking_that_is_not_kept_cannot_be_labelled(client):
    assert client.rank({"features": ["tried"], "id": "tried"}, keep=False).id == "tried"
    both = client.rank_many([{"features": ["tried"]}, {"text": "tried"}], keep=False)
    assert [each.id for each in both.results] == ["", ""]
    with pytest.raises(RequestRefused, match="404"):
        client.learn({"id": "tried", "classes": ["x"]})


def test_review(client):
    client.rank({"features": ["never seen before"], "id": "to label"})
    listed = {each.id: each for each in client.review(100).instances}
    assert listed["to label"].features == {"never seen before": 1.0}
    assert listed["to label"].ranked == ()
    primary = client.learners()[0].label
    [shown] = (each for each in client.review(100, primary).instances if each.id == "to label")
    assert shown.ranked == ()
    missed = client.stats().served.missed
    assert client.review(reviewer="anna", lease=False).reviewer is None
    assert client.review(reviewer="anna").reviewer == "anna"
    client.learn({"id": "to label", "classes": ["review"]})
    assert "to label" not in [each.id for each in client.review(100).instances]
    assert client.stats().served.missed == missed + 1


def test_an_event_sent_again_is_a_duplicate(client):
    event = {"text": "again", "classes": ["again"], "event_id": "again 1"}
    assert client.learn_many([event, event]).duplicates == 1
    answer = client.learn_many([event])
    assert (answer.accepted, answer.duplicates, answer.ranks_before) == (0, 1, (None,))


@pytest.mark.parametrize("name", ["a/b", "?#%", "..", ".", "ü — 日本", " ", "%2F"])
def test_any_name_can_be_looked_up_and_forgotten(client, name):
    client.learn({"features": [name], "classes": [name]})
    assert client.feature(name).edges[0].name == name
    weight = client.feature(name).edges[0].weight
    assert client.class_(name).features == (FeatureWeight(name, weight),)
    assert name in [each.name for each in client.classes(page=2)]
    assert next(each.name for each in client.classes(name, page=1)) == name
    assert name in [each.feature for each in client.features(page=2)]
    assert next(each for each in client.features(name, page=1)).times_seen == 1
    seq = client.forget_class(name)
    assert client.forget_feature(name) == seq + 1
    for look in (client.class_, client.feature, client.forget_class, client.forget_feature):
        with pytest.raises(RequestRefused) as caught:
            look(name)
        assert caught.value.status == 404


def test_snapshots_and_stats(client):
    client.learn({"text": "kept", "classes": ["kept"]})
    taken = client.take_snapshot()
    assert client.snapshots()[0] == taken
    client.learn({"text": "undone", "classes": ["undone"]})
    assert client.restore(taken.seq) > taken.seq
    stats = client.stats()
    assert stats.seq > taken.seq
    accuracy = stats.accuracy["100"]
    assert accuracy.examples > 0
    assert 0 <= accuracy.r1 <= accuracy.r5 <= accuracy.r10 <= 1
    assert stats.settings["MANYCLASS_RANK_KEYS"] == "1 (hidden)"
    assert "disk" in stats.durability
    assert client.is_ready()
    with pytest.raises(RequestRefused):
        client.class_("undone")


def test_events_are_listed_corrected_deleted_and_learned_again(client):
    right = {"text": "one two", "classes": ["events a"], "event_id": "events/1", "weight": 2.5}
    wrong = {"features": {"three": 2.0}, "classes": ["events b"], "parents": {"events b": "top"}}
    client.learn(right, source="history")
    number = client.learn(wrong, source="history").seq
    listed = [*client.events(source="history", page=1)]
    assert [event.seq for event in listed] == [number, number - 1]
    assert [event.seq for event in client.events(source="history", oldest_first=True)] == [
        number - 1,
        number,
    ]
    assert client.event("events/1").body() == right | {
        "classes": ("events a",),
        "source": "history",
    }
    body = client.event(f"seq:{number}").body()
    assert body["features"] == wrong["features"]
    assert body["parents"] == wrong["parents"]
    assert [*client.events(of_class="events b", since=listed[0].time + 1)] == []

    amended = client.correct(f"seq:{number}", ["events a"])
    assert (amended.amended, amended.changed) == (number, True)
    assert not client.correct(f"seq:{number}", ["events a"]).changed
    assert client.event(f"seq:{number}").corrected
    assert client.delete_event("events/1").deleted == 1
    with pytest.raises(RequestRefused) as caught:
        client.event("events/1")
    assert caught.value.status == 404
    assert client.rebuild_status().waiting == 2
    report = client.rebuild()
    assert (report.corrected, report.deleted) == (1, 1)
    assert client.rebuild_status().last == report
    with pytest.raises(RequestRefused, match="primary") as caught:
        client.rebuild("svm")
    assert caught.value.status == 409
    with pytest.raises(RequestRefused, match="nobody") as caught:
        client.rebuild("nobody(1)")
    assert caught.value.status == 404
    counted = client.confusions(last=10)
    assert counted.events > 0
    assert counted.complete
    assert client.confusions(last=10, seconds=10.0) == counted
    assert client.suspects(last=10, limit=1, seconds=0.5) == ()
    with pytest.raises(RequestRefused, match="seconds"):
        client.confusions(seconds=61)
    assert client.suspects(last=10, limit=1) == ()
    assert client.delete_events(source="history").deleted == 1
    assert [*client.events(source="history")] == []


def test_settings(client, url):
    settings = client.settings()
    shadows = settings["MANYCLASS_SHADOWS"]
    assert shadows.value == CHOSEN["MANYCLASS_SHADOWS"]
    assert (shadows.option, shadows.source) == ("--shadows", "environment")
    assert settings["MANYCLASS_WORKERS"].help
    with Client(url, "may-learn") as other, pytest.raises(RequestRefused) as caught:
        other.settings()
    assert caught.value.status == 403


def test_check(client):
    client.check()
    with Client("http://127.0.0.1:9") as other, pytest.raises(ServiceUnreachable):
        other.check()


def test_operating_points(client):
    client.learn({"text": "points", "classes": ["points"]})
    primary = client.learners()[0].label
    found = client.operating_points()
    assert [each.target for each in found.all.targets] == [0.8, 0.9, 0.95, 0.99]
    assert (found.learner, found.groups) == (primary, None)
    by_class = client.operating_points(0.7, "class", "newest", "ff(rating=0)", 3, 0)
    assert by_class.learner == "ff(rating=0)"
    assert [each.target for each in by_class.all.targets] == [0.7]
    assert by_class.groups.by == "class"
    with pytest.raises(RequestRefused):
        client.operating_points(target=2)


def test_learners(client):
    client.learn({"text": "learners", "classes": ["learners"]})
    first, second, third = client.learners()
    assert [first.label, second.label, third.label] == ["svm", "pa(replay=1)", "ff(rating=0)"]
    assert [first.primary, second.primary, third.primary] == [True, False, False]
    assert (first.edges, first.learned) == (client.stats().edges, client.stats().learned)
    assert second.options["replay"] == 1
    assert second.learn_seconds > 0
    assert second.accuracy["100"].examples > 0
    seq = client.promote(second.label)
    assert client.learners()[0] == msgspec.structs.replace(second, primary=True)
    assert client.promote("svm") == seq + 1
    with pytest.raises(RequestRefused):
        client.promote("ema")


def test_the_children_of_a_class_are_read_in_pages(client):
    names = [f"page-{number}" for number in range(5)]
    client.place_many(dict.fromkeys(names, "pages"))
    page, found = client.class_("pages", limit=2), []
    while page.next is not None:
        found += page.children
        page = client.class_("pages", limit=2, after=page.next)
    assert [*found, *page.children] == names


def test_classes_are_described_and_found(client):
    client.describe("d-1", {"title": "Late parcel", "alt_labels": ["Paket"], "vector": [1, 2.5]})
    seq = client.describe_many([{"class": "d-2", "parent": "d", "title": "Lost parcel"}])
    assert client.stats().seq == seq
    assert client.titles(["d-2", "d", "d-1"]) == {"d-2": "Lost parcel", "d-1": "Late parcel"}
    assert [each.name for each in client.classes(search="parcel")] == ["d-1", "d-2"]
    [found] = client.classes(search="paket")
    assert (found.title, found.alt_labels, found.has_vector) == ("Late parcel", ("Paket",), True)
    assert next(client.taxonomy("d")).title == "Lost parcel"
    client.learn({"text": "parcel", "classes": ["d-1"]})
    ranked = client.rank({"text": "parcel"}, among=["d-1"]).ranked
    assert [each.title for each in ranked] == ["Late parcel"]
    client.describe("d-1", {"title": None})
    shown = client.class_("d-1")
    assert (shown.title, shown.alt_labels, shown.has_vector) == (None, ("Paket",), True)


def test_a_fault_is_found_at_its_place(client):
    good, bad = {"text": "x", "classes": ["place"]}, {"text": "x", "classes": [""]}
    with pytest.raises(RequestRefused) as caught:
        client.learn_many([good, good, bad])
    assert caught.value.status == 422
    assert caught.value.faults[0].pointer.startswith("#/events/2/classes")
    with pytest.raises(RequestRefused):
        client.class_("place")


@pytest.mark.parametrize(
    ("key", "status"), [(None, 401), ("wrong", 401), ("may-rank", 403), ("may-learn", 403)]
)
def test_a_key_that_does_not_do(url, key, status):
    with Client(url, key) as client, pytest.raises(RequestRefused) as caught:
        client.take_snapshot()
    assert caught.value.status == status


def test_classes_are_renamed_and_merged(client):
    for name in ("was", "other"):
        client.learn({"features": [f"rename {name}"], "classes": [f"rename {name}"]})
    assert client.rename_class("rename was", "rename is") > 0
    assert client.class_("rename is").learned == 1
    assert client.merge_class("rename is", "rename other") > 0
    assert client.release_class("rename is") > 0
    with pytest.raises(RequestRefused, match="former name"):
        client.release_class("rename is")
    with pytest.raises(RequestRefused):
        client.rename_class("rename nothing", "rename is")
