import asyncio
import json
import re
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from manyclass.cli.commands import rebuild
from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused
from tests.cli.services import new_service
from tests.service.serving import serving


def teach(url, source, *events):
    """Teach events of a source; return the key of each."""
    with Client(url) as client:
        return [
            f"seq:{client.learn({'event_id': f'{source}-{number}', **event}, source=source).seq}"
            for number, event in enumerate(events)
        ]


def rows(result):
    return [line.split("\t") for line in result.stdout.splitlines()]


def test_events_are_listed_with_their_times_and_ranks(manyclass, service):
    long = "one\ntwo\tthree " + "four " * 20
    teach(
        service,
        "listed",
        {"text": long, "classes": ["listed a", "listed b"]},
        {
            "features": {"listed ice": 1.5, "listed puck": 2},
            "classes": ["listed a"],
            "not": ["listed b"],
        },
    )
    second, first = rows(manyclass("events", "list", "--source", "listed", "--url", service))
    assert first[0] == "listed-0"
    assert first[1].endswith(" UTC")
    assert first[2:5] == ["listed", "listed a,listed b", "-"]
    assert first[5] == ("one two three " + "four " * 20)[:59] + "…"
    assert second[5] == "listed ice=1.5 listed puck=2"
    oldest = manyclass(
        "events", "list", "--source", "listed", "--oldest", "--limit", 1, "--url", service
    )
    assert rows(oldest) == [first]


def test_an_event_is_one_line_whatever_its_names(manyclass, service):
    teach(service, "an \x1b[31modd", {"text": "x", "classes": ["odd\tclass\n\u202e"]})
    [[_, _, *cells]] = rows(
        manyclass("events", "list", "--class", "odd\tclass\n\u202e", "--url", service)
    )
    assert cells == [r"an \x1b[31modd", r"odd\tclass\n\u202e", "-", "x"]


def test_a_name_that_is_not_utf_8_is_refused(manyclass, service):
    given = ("events", "correct", "seq:1", "b\udcff", "--url", service)
    for options in ((), ("--new-class",)):
        refused = manyclass(*given, *options, exit_code=2)
        assert refused.stderr.startswith("manyclass: 'b\\udcff' is not text in UTF-8")


def test_filters_choose_events(manyclass, service):
    teach(service, "chosen", *[{"text": "chosen", "classes": ["chosen x"]}] * 3)
    teach(service, "chosen too", {"text": "chosen", "classes": ["chosen y"]})

    def keys(*options):
        result = manyclass("events", "list", *options, "--json", "--url", service)
        return [json.loads(line)["key"] for line in result.stdout.splitlines()]

    assert keys("--class", "chosen x") == ["chosen-2", "chosen-1", "chosen-0"]
    assert keys("--class", "chosen x", "--wrong", "--limit", "0") == ["chosen-0"]
    assert keys("--class", "chosen y", "--since", "2020-01-01") == ["chosen too-0"]
    assert keys("--class", "chosen y", "--until", "2020-01-01T10:00+02:00") == []
    assert keys("--class", "chosen y", "--since", "2020-01-01T00:00:00Z") == ["chosen too-0"]
    assert keys("--class", "chosen y", "--since", "1577836800") == ["chosen too-0"]
    today = f"{datetime.now(UTC):%F}"
    assert keys("--class", "chosen y", "--since", today, "--until", today) == ["chosen too-0"]
    bad = manyclass("events", "list", "--since", "yesterday", "--url", service, exit_code=2)
    assert "'yesterday' is not a time: give a time such as 2026-11-25T09:30:00Z" in bad.stderr


def test_an_event_is_corrected_once(manyclass, service):
    [key] = teach(service, "corrected", {"text": "wrong", "classes": ["corrected no"]})
    number = key.removeprefix("seq:")
    corrected = manyclass(
        "events", "correct", key, "corrected yes", "--new-class", "--url", service
    )
    assert corrected.stdout.startswith(f"event {number} is corrected, by event ")
    again = manyclass("events", "correct", "corrected-0", "corrected yes", "--url", service)
    assert again.stdout == f"event {number} has these classes already\n"
    with Client(service) as client:
        assert client.event(key).classes == ("corrected yes",)
    gone = manyclass("events", "correct", "nowhere", "corrected yes", "--url", service, exit_code=1)
    assert "The history has no event 'nowhere'" in gone.stderr


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("misspelt_arival", "did you mean 'misspelt_arrival'? "),
        ("Misspelt_Arrival", "did you mean 'misspelt_arrival'? "),
        ("zzz", ""),
    ],
)
def test_a_correction_to_a_class_that_is_not_there_is_refused(manyclass, service, given, meant):
    [key] = teach(service, "misspelt", {"text": "x", "classes": ["misspelt_arrival"]})
    correct = ("events", "correct", key, "misspelt_arrival", given, "--url", service)
    refused = manyclass(*correct, exit_code=1)
    assert refused.stderr == (
        f"manyclass: there is no class '{given}'; {meant}--new-class adds it\n"
    )
    with Client(service) as client:
        assert client.event(key).classes == ("misspelt_arrival",)


def test_a_class_of_the_taxonomy_alone_is_there(manyclass, service):
    [key] = teach(service, "known", {"text": "x", "classes": ["known"]})
    with Client(service) as client:
        client.place("known placed", None)
    manyclass("events", "correct", key, "known placed", "--url", service)


def test_close_names_are_found_among_very_many(manyclass):
    with new_service() as url, Client(url) as client:
        for begin in range(0, 20_000, 1_000):
            client.learn_many(
                [
                    {"features": ["f"], "classes": [f"{'abcdefghij'[n % 10]}lass {n:05}"]}
                    for n in range(begin, begin + 1_000)
                ]
            )
        event = client.learn({"features": ["g"], "classes": ["hockey"]})
        given = ("events", "correct", f"seq:{event.seq}", "--url", url)
        for wrong in ("hocky", "Hockey", "hockkey"):
            refused = manyclass(*given, wrong, exit_code=1)
            assert "did you mean 'hockey'? --new-class" in refused.stderr


def test_an_event_or_a_source_is_deleted_after_a_question(manyclass, service):
    first, *others = teach(service, "deleted", *[{"text": "gone", "classes": ["deleted"]}] * 3)
    manyclass("events", "delete", first, "--url", service, input="n\n", exit_code=1)
    one = manyclass("events", "delete", first, "--url", service, input="y\n")
    assert "deleted 1 event, up to event" in one.stdout
    with Client(service) as client:
        with pytest.raises(RequestRefused):
            client.event(first)
        assert client.event(others[0]).classes == ("deleted",)
    asked = ("events", "delete", "--source", "deleted", "--url", service)
    declined = manyclass(*asked, input="n\n", exit_code=1)
    assert f"Delete 2 events of source 'deleted' at {service}?" in declined.output
    rest = manyclass(*asked, "--yes")
    assert rest.stdout.startswith("deleted 2 events, up to event ")
    none = manyclass("events", "delete", "--source", "deleted", "--yes", "--url", service)
    assert none.stdout == "deleted 0 events\n"


def test_another_spelling_of_a_name_is_named_and_not_deleted(manyclass):
    with new_service() as url, Client(url) as client:
        for source in ("Anna Meier", "anna  meier", "Anna Maier"):
            client.learn({"text": "a lamp", "classes": ["x"], "source": source})
        client.give_for_review([{"text": "a bin", "id": "m-1", "source": "ANNA MEIER"}])
        asked = ("events", "delete", "--source", "Anna Meier", "--url", url)
        said = "another spelling of the source 'Anna Meier', which is not deleted: "
        declined = manyclass(*asked, input="n\n", exit_code=1)
        assert f"{said}'anna  meier', 'ANNA MEIER'" in declined.output
        done = manyclass(*asked, "--yes")
        assert done.stdout.startswith("deleted 1 event,")
        assert said in done.stderr
        client.delete_events(source="anna  meier")
        client.delete_events(source="ANNA MEIER")
        none = manyclass(*asked, "--yes")
        assert (none.stdout, none.stderr) == ("deleted 0 events\n", "")
        nothing = manyclass("events", "list", "--source", "Anna Meier", "--url", url)
        assert (nothing.stdout, nothing.stderr) == ("", "no event is listed\n")


def test_labels_of_an_instance_are_listed_exported_and_deleted_by_its_id(manyclass):
    with new_service() as url:
        with Client(url) as client:
            client.learn({"text": "kept", "classes": ["x"]})
            client.rank({"text": "the lost card", "id": "q-1"})
            client.learn({"id": "q-1", "classes": ["x"], "event_id": "e-1"})
            client.learn({"id": "q-1", "classes": ["y"]})
        given = ("--id", "q-1", "--url", url)
        lines = rows(manyclass("events", "list", *given))
        assert [(line[3], line[-1]) for line in lines] == [
            ("y", "the lost card"),
            ("x", "the lost card"),
        ]
        listed = manyclass("events", "list", "--json", *given).stdout.splitlines()
        assert [json.loads(line)["id"] for line in listed] == ["q-1", "q-1"]
        exported = manyclass("export", "--events", "--url", url).stdout.splitlines()
        assert json.loads(exported[1]) == {
            **{"text": "the lost card", "classes": ["x"], "event_id": "e-1"}
        }
        deleted = manyclass("events", "delete", "q-1", "--yes", "--url", url)
        assert deleted.stdout.startswith("deleted 2 events")
        assert manyclass("events", "list", *given).stdout == ""
        left = rows(manyclass("events", "list", "--url", url))
        assert [line[-1] for line in left] == ["kept"]


def test_what_a_restore_has_undone_is_listed_when_asked_for_and_deleted(manyclass):
    with new_service() as url:
        with Client(url) as client:
            client.learn({"text": "kept", "classes": ["x"], "event_id": "kept"})
            kept = client.take_snapshot().seq
            client.learn({"text": "gone", "classes": ["x"], "event_id": "seq:1"}, source="anna")
            client.restore(kept)
        given = ("--source", "anna", "--url", url)
        assert manyclass("events", "list", *given).stdout == ""
        [[*_, text]] = rows(manyclass("events", "list", "--undone", *given))
        assert text == "(undone) gone"
        refused = manyclass("events", "delete", "seq:1", "--yes", "--url", url, exit_code=1)
        assert (
            "names more than one event: 'seq:01' is event 1, 'seq:2' is event 2" in refused.stderr
        )
        asked = manyclass("events", "delete", *given, input="n\n", exit_code=1)
        assert "Delete 1 event of source 'anna'" in asked.output
        deleted = manyclass("events", "delete", *given, "--yes")
        assert deleted.stdout.startswith("deleted 1 event")
        assert manyclass("events", "list", "--undone", *given).stdout == ""


def test_events_of_a_reviewer_and_a_batch(manyclass, service):
    for reviewer, batch in (("ann", "1.csv"), ("ann", "2.csv"), ("ben", "1.csv")):
        event = {"text": "a", "reviewer": reviewer, "batch": batch, "classes": ["a"]}
        teach(service, f"{reviewer} {batch}", event)
    ann, one = ("--url", service, "--reviewer", "ann"), ("--batch", "1.csv")
    assert len(manyclass("events", "list", *ann).stdout.splitlines()) == 2
    assert len(manyclass("events", "list", *ann, *one).stdout.splitlines()) == 1
    asked = manyclass("events", "delete", *ann, *one, input="n\n", exit_code=1)
    assert "Delete 1 event of reviewer 'ann' and batch '1.csv'" in asked.output
    manyclass("events", "delete", *ann, *one, "--yes")
    [left] = manyclass("events", "list", *ann, "--json").stdout.splitlines()
    assert json.loads(left)["batch"] == "2.csv"


@pytest.mark.parametrize("arguments", [(), ("seq:1", "--source", "x")])
def test_one_thing_to_delete_is_to_be_named(manyclass, service, arguments):
    result = manyclass("events", "delete", *arguments, "--yes", "--url", service, exit_code=2)
    assert "an EVENT, or --source" in result.stderr


def test_a_rebuild_gives_a_new_shadow_all_of_the_history(manyclass, service):
    teach(service, "learner", {"text": "of a learner", "classes": ["learner"]})
    manyclass("rebuild", "--learner", "pa(replay=4)", "--url", service)
    with Client(service) as client:
        primary, shadow = client.learners()
        assert shadow.label == "pa(replay=4)"
        assert shadow.learned == primary.learned > 0
    for learner, words in (("pa(", "pa("), ("nobody", "nobody")):
        refused = manyclass("rebuild", "--learner", learner, "--url", service, exit_code=1)
        assert words in refused.stderr


def test_a_rebuild_learns_the_history_as_it_was_amended(manyclass, service):
    [key] = teach(service, "rebuilt", {"text": "rebuilt", "classes": ["rebuilt no"]})
    manyclass("events", "correct", key, "rebuilt yes", "--new-class", "--url", service)
    before = manyclass("rebuild", "--status", "--url", service)
    assert re.search(r"1 amended event waits|[2-9]\d* amended events wait", before.stdout)
    rebuilt = manyclass("rebuild", "--url", service)
    assert rebuilt.stdout.startswith("rebuilt the state at event ")
    after = manyclass("rebuild", "--status", "--url", service)
    assert after.stdout == f"0 amended events wait for a rebuild\n{rebuilt.stdout}"
    with Client(service) as client, pytest.raises(RequestRefused):
        client.class_("rebuilt no")


def test_a_rebuild_waits_for_the_one_under_way(manyclass, monkeypatch):
    with serving() as served:
        lock = served.app.engine.rebuild._lock
        asyncio.run_coroutine_threadsafe(lock.acquire(), served.loop).result()

        def let_go(seconds):
            asyncio.run_coroutine_threadsafe(released(lock), served.loop).result()

        monkeypatch.setattr(rebuild, "time", SimpleNamespace(sleep=let_go))
        result = manyclass("rebuild", "--url", served.url)
    assert result.stderr == "a rebuild is in progress; waiting for its end\n"
    assert result.stdout.startswith("rebuilt the state at event 0 ")


async def released(lock):
    lock.release()


def test_a_rebuild_reads_texts_by_another_analysis(manyclass):
    with new_service() as url, Client(url) as client:
        client.learn({"text": "a café", "classes": ["x"]})
        with pytest.raises(RequestRefused):
            client.feature("cafe")
        given = ("rebuild", "--text", "words+unmarked", "--url", url)
        assert manyclass(*given).stdout.endswith("texts are analysed with words+unmarked\n")
        assert client.feature("cafe").feature == "cafe"
        refused = manyclass("rebuild", "--text", "letters", "--url", url, exit_code=1)
        assert "must be words, or words with any of" in refused.stderr
