"""Messages between the processes on one store."""

import time

from manyclass.service.store.protocol import PeerMessage


def test_messages_reach_their_receivers(open_redis, follow):
    first, second = open_redis(), open_redis()
    followers = follow(first), follow(second)
    first.heartbeat(0)
    second.heartbeat(0)
    first.post([(second.name, b"one"), (second.name, b"\0two"), (first.name, b"to myself")])
    followers[1].wait_for(lambda: len(followers[1].messages) == 2)
    followers[0].wait_for(lambda: followers[0].messages)
    assert followers[1].messages == [
        PeerMessage(first.name, b"one"),
        PeerMessage(first.name, b"\0two"),
    ]
    assert followers[0].messages == [PeerMessage(first.name, b"to myself")]


def test_messages_arrive_once_and_are_deleted(store, data, follow):
    store.heartbeat(0)
    follower = follow(store)
    for number in range(40):
        store.post([(store.name, b"%d" % number)])
    follower.wait_for(lambda: len(follower.messages) == 40)
    follower.wait_for_pause()
    follower.wait_for_pause()
    assert [int(message.body) for message in follower.messages] == list(range(40))
    assert data.client.xlen(data.key(f"mail:{store.name}")) == 0


def test_a_mailbox_is_bounded_and_ends_by_itself(data, open_redis, monkeypatch):
    monkeypatch.setattr("manyclass.service.store.redis.store.MESSAGES_KEPT", 10)
    first, second = open_redis(), open_redis()
    second.heartbeat(0)
    first.post([(second.name, b"x") for _ in range(500)])
    key = data.key(f"mail:{second.name}")
    assert data.client.xlen(key) < 250  # the server drops a hundred at a time
    assert 0 < data.client.ttl(key) <= 60


def test_a_message_to_nobody_is_dropped(data, open_redis):
    first, second = open_redis(), open_redis()
    second.heartbeat(0)
    second.close()
    first.post([])
    first.post([(second.name, b"x"), ("nobody", b"y")])
    assert data.client.keys(data.key("mail:*")) == []


def test_the_messages_of_a_process_that_ends_or_dies_go_with_it(data, open_redis):
    ending, dying = open_redis(), open_redis()
    sender = open_redis(lease_seconds=0.5)
    for each in (ending, dying):
        each.heartbeat(0)
        sender.post([(each.name, b"x")])
        assert data.client.xlen(data.key(f"mail:{each.name}")) == 1
    ending.close()
    assert not data.client.exists(data.key(f"mail:{ending.name}"))
    time.sleep(0.6)
    sender.heartbeat(0)
    assert data.client.keys(data.key("mail:*")) == []


def test_a_scrub_deletes_messages_once_the_living_have_read_them(
    data, open_redis, follow, monkeypatch
):
    """A process that was killed counts as alive for some seconds, and reads nothing."""
    sender, living, killed = open_redis(), open_redis(), open_redis()
    follower = follow(living)
    for each in (sender, living, killed):
        each.heartbeat(0)
    sender.post([(living.name, b"early"), (killed.name, b"early"), (killed.name, b"early")])

    def late(seconds):
        assert seconds > 0
        follower.wait_for(lambda: len(follower.messages) == 1)
        sender.post([(living.name, b"late"), (killed.name, b"late")])

    monkeypatch.setattr(sender._session.closed, "wait", late)
    sender.archived_segments.scrub()
    follower.wait_for(lambda: len(follower.messages) == 2)
    [left] = data.client.xrange(data.key(f"mail:{killed.name}"))
    assert left[1][b"body"] == b"late"


def test_peer_messages_arrive_after_the_clock_of_the_server_was_set_back(
    server, open_redis, follow
):
    store = open_redis(server.url)
    store.heartbeat(None)
    following = follow(store)
    mailbox = "{manyclass}:mail:" + store.name
    with server.client() as client:
        fields = {"from": "the future", "body": "first"}
        client.xadd(mailbox, fields, id=f"{2**50}-0")
        following.wait_for(lambda: len(following.messages) == 1)
        following.wait_for_pause()
        client.delete(mailbox)
    store.post([(store.name, b"second")])
    following.wait_for(lambda: len(following.messages) == 2)
    assert [message.body for message in following.messages] == [b"first", b"second"]
