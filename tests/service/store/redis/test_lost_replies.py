"""An append whose reply is lost, or comes late, is in the log once."""

import threading

import pytest
import redis

from manyclass.service.store.errors import CommitOutcomeUnknown, LogRewound
from manyclass.service.store.redis.link import Link
from manyclass.service.store.redis.scripts import APPEND
from tests.service.store.following import next_found


@pytest.mark.parametrize("lost", [["reply"], ["request"], ["reply"] * 3, ["request", "reply"]])
def test_an_append_sent_again_is_in_the_log_once(store, follow, lose, lost):
    follower = follow(store)
    store.append([b"1", b"2"], 1)
    lose(lost)
    assert store.append([b"3", b"4"], 2) == 4
    assert store.append([b"5"], 3) == 5
    follower.wait_for_seq(5)
    assert [event for _, event in follower.events] == [b"1", b"2", b"3", b"4", b"5"]
    assert follower.append_ids == [1, 2, 3]


def test_another_append_in_between_changes_nothing_about_that(open_redis, lose):
    store, other = open_redis(), open_redis()
    lose(["reply", None])  # the second append is the other process's
    run = threading.Thread(target=other.append, args=([b"other"],))
    first = store.append([b"1"], 1)
    run.start()
    run.join()
    events = [event for _, event in store.read(0)]
    assert sorted(events) == [b"1", b"other"]
    assert events[first - 1] == b"1"


def test_an_append_that_stays_unanswered_is_uncertain(open_redis, follow, lose):
    store = open_redis(patience=0.5)
    follower = follow(store)
    store.append([b"1"], 1)
    lose(["reply"] * 1000)
    with pytest.raises(CommitOutcomeUnknown) as error:
        store.append([b"2"], 2)
    assert error.value.hint
    follower.wait_for_seq(2)
    assert follower.append_ids == [1, 2]


def test_a_late_append_is_refused_after_a_later_one(open_redis, lose, monkeypatch):
    store = open_redis(patience=0.5)
    store.append([b"1"], 1)
    sent = []
    run = Link.run

    def spying(self, script, keys, arguments):
        if script is APPEND:
            sent.append((keys, arguments))
        return run(self, script, keys, arguments)

    monkeypatch.setattr(Link, "run", spying)
    lose(["request"] * 1000)
    with pytest.raises(CommitOutcomeUnknown):
        store.append([b"2"], 2)
    monkeypatch.undo()
    assert store.append([b"3"], 3) == 2
    link, _ = store._session.connect()
    with pytest.raises(redis.ResponseError, match="STALE"):
        link.run(APPEND, *sent[0])
    link.close()
    assert [event for _, event in store.read(0)] == [b"1", b"3"]


def test_a_paused_server_takes_it_once_when_it_goes_on(server, open_redis, follow):
    store = open_redis(server.url, patience=0.5)
    store.append([b"1"], 1)
    server.pause()
    with pytest.raises(CommitOutcomeUnknown):
        store.append([b"2"], 2)
    server.resume()
    assert store.append([b"3"], 3) in (2, 3)
    follower = follow(store)
    follower.wait_for(lambda: 3 in follower.append_ids)
    follower.wait_for_pause()
    assert follower.append_ids in ([1, 2, 3], [1, 3])


def test_an_append_sent_again_waits_for_replicas_too(server, tmp_path, open_redis, lose):
    store = open_redis(f"{server.url}?replicas=1", patience=1.0)
    lose(["reply", None, None])
    with pytest.raises(CommitOutcomeUnknown, match="0 of 1"):
        store.append([b"1"], 1)
    assert store.last_seq == 1


def test_an_append_that_is_sent_again_to_a_log_that_lost_its_end_is_noticed(
    forgetful, open_redis, monkeypatch
):
    """The append gets the same number, but after other events than the followed ones."""
    one, reader, other = (open_redis(forgetful.url) for _ in range(3))
    one.append([b"1"], 1)
    with forgetful.client() as client:
        client.save()
    reader.append([b"2"], 1)
    following = reader.follow(0)
    given = []

    def read_up_to(seq):
        while not given or given[-1][0] < seq:
            batch = next_found(following)
            given.extend(enumerate(batch.events, batch.first_seq))

    run, lost = Link.run, []

    def lose_the_reply_and_the_end(self, script, *arguments):
        answer = run(self, script, *arguments)
        if script is APPEND and not lost:
            lost.append(answer)
            read_up_to(3)
            forgetful.kill()
            forgetful.start()
            assert other.append([b"2 of another"], 1) == 2
            raise redis.ConnectionError("the reply was lost")
        return answer

    monkeypatch.setattr(Link, "run", lose_the_reply_and_the_end)
    assert one.append([b"3"], 2) == 3
    with pytest.raises(LogRewound):
        next_found(following)
    assert given == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert list(other.read(0)) == [(1, b"1"), (2, b"2 of another"), (3, b"3")]
