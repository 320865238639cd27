import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.instance import Instance
from manyclass.core.text import DEFAULT_TEXT, Reading
from manyclass.service.ingest import peer_lookup
from manyclass.service.ingest.peer_messages import Answer, Kept, Question, opened
from manyclass.service.ingest.stored_instance import Absence
from manyclass.service.sealing import sealed
from manyclass.service.store.errors import StoreUnavailable
from manyclass.service.store.protocol import PeerMessage
from tests.hypothesis_examples import examples
from tests.service.faulty import PATIENCE, many_turns
from tests.service.ingest.office import Office, processes

READING = Reading(DEFAULT_TEXT, 1000)
A, B = Instance(["a"]), Instance({"b": 2.0})
TOO_LATE, NEVER_SEEN, NO_ANSWER = Absence.TOO_LATE, Absence.NEVER_SEEN, Absence.NO_ANSWER


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Make lookups wait for every peer unless a test lets the time pass."""
    monkeypatch.setattr(peer_lookup, "ANSWER_SECONDS", 2 * PATIENCE)


async def time_passes():
    """Make all timers of the loop due."""
    await asyncio.sleep(0)  # first deliver the messages sent so far
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + 3 * PATIENCE


# --- finding --------------------------------------------------------------------------------------


async def test_too_late_differs_from_never_seen():
    one, two, three = await processes("one", "two", "three")
    made, given = two.pending.keep(A), three.pending.keep(B, "given")
    two.clock.now = three.clock.now = two.clock.now + 60
    said = await one.find(made, given, "never")
    assert said == {made: TOO_LATE, given: TOO_LATE, "never": NEVER_SEEN}
    assert one.metrics.peer_lookups == {"found": 0, "too_late": 2, "unknown": 1, "no_answer": 0}


async def test_an_instance_counts_more_than_that_it_is_gone_elsewhere():
    one, two, _ = await processes("one", "two", "three")
    two.pending.keep(A, "id")
    two.clock.now += 60
    with one.office.gate.shut():
        asking = one.ask("id")
        await one.office.gate.reached()
        one.office.desks["three"].pending.keep(B, "id")
    assert await asking == {"id": (B, 0)}


async def test_the_first_instance_is_enough():
    one, two, _ = await processes("one", "two", "silent")
    one.office.deaf.add("silent")
    made = two.pending.keep(A)
    assert await one.find(made) == {made: (A, 0)}


async def test_the_age_is_never_below_zero():
    one, two = await processes("one", "two")
    made = two.pending.keep(A)
    two.clock.now -= 100
    assert await one.find(made) == {made: (A, 0)}


async def test_no_peers():
    [alone] = await processes("alone")
    assert await alone.find("id") == {"id": NEVER_SEEN}
    other = alone.office.process("other")
    other.shared = None  # has a store of its own
    assert await other.find("id") == {}
    assert alone.office.sent == []
    assert not any(other.metrics.peer_lookups.values())


async def test_a_process_that_has_just_started_is_asked_too():
    one, two = await processes("one", "two")
    three = one.office.process("three")  # unknown to its peers
    made, gone = three.pending.keep(A), two.pending.keep(B)
    assert await one.find(made) == {made: (A, 0)}
    two.clock.now += 60
    one.office.process("four").pending.keep(B, gone)
    assert await one.find(made, gone) == {
        made: (A, 0),
        gone: (B, 0),
    }
    four = one.office.process("five")
    assert await four.find(made) == {made: (A, 0)}


async def test_found_instances_need_no_poll():
    one, two = await processes("one", "two")
    made = two.pending.keep(A)
    polls = one.polls
    await one.find(made)
    assert one.polls == polls
    await asyncio.gather(*(one.find(f"never {number}") for number in range(50)))
    assert polls < one.polls  # concurrent lookups share a call of the engine


async def test_the_list_of_peers_may_be_unknown():
    office = Office()
    one = office.process("one")
    office.error = StoreUnavailable("the cable is cut")
    assert await one.find("id") == {"id": NO_ANSWER}
    assert one.metrics.peer_lookups["no_answer"] == 1


# --- no peer answers ------------------------------------------------------------------------------


async def test_silence_is_no_answer():
    one, two, _ = await processes("one", "two", "silent")
    one.office.deaf.add("silent")
    made = two.pending.keep(A)
    asking = one.ask(made, "never")
    await one.office.has_sent(3)
    await time_passes()
    assert await asking == {made: (A, 0), "never": NO_ANSWER}
    assert one.metrics.peer_lookups["no_answer"] == 1


async def test_messages_that_cannot_be_sent_are_not_waited_for():
    one, two = await processes("one", "two")
    made = two.pending.keep(A)
    one.office.error = StoreUnavailable("the cable is cut")
    assert await one.find(made) == {made: NO_ANSWER}
    one.office.error = None
    assert await one.find(made) == {made: (A, 0)}


async def test_a_store_that_hangs_is_waited_for_only_so_long():
    one, _ = await processes("one", "two")
    with one.office.gate.shut():
        first = one.ask("a")
        await one.office.gate.reached()
        second = one.ask("a", "b")
        await time_passes()
        assert await first == {"a": NO_ANSWER}
        assert await second == {"a": NO_ANSWER, "b": NO_ANSWER}


async def test_so_many_ids_wait_and_no_more(monkeypatch):
    monkeypatch.setattr(peer_lookup, "MOST_IDS", 3)
    one, two = await processes("one", "two")
    for name in "abcde":
        two.pending.keep(A, name)
    with one.office.gate.shut():
        first = one.ask("a", "b", "c")
        await one.office.gate.reached()
        second = one.ask("d", "e")
        await asyncio.sleep(0)
        assert await one.find("f", "g") == {"f": NO_ANSWER, "g": NO_ANSWER}
    assert await first | await second == dict.fromkeys("abcde", (A, 0))


# --- messages -------------------------------------------------------------------------------------


async def test_lookups_during_a_post_share_one_message_to_each_process():
    one, two, _ = await processes("one", "two", "three")
    made = [two.pending.keep(Instance([f"f{number}"])) for number in range(20)]
    with one.office.gate.shut():
        first = one.ask(made[0])
        await one.office.gate.reached()
        others = [one.ask(made[1], name) for name in made[2:]]
        await asyncio.sleep(0)
        assert one.office.sent == []
    found = await first
    for each in others:
        found |= await each
    assert set(found) == set(made)
    assert not any(isinstance(each, Absence) for each in found.values())
    assert [name for sender, name, _ in one.office.sent if sender == "one"] == ["two", "three"] * 2


async def test_many_ids_are_asked_for_in_several_messages(monkeypatch):
    monkeypatch.setattr(peer_lookup, "MESSAGE_IDS", 10)
    one, two = await processes("one", "two")
    made = [two.pending.keep(A) for _ in range(25)]
    said = await one.find(*made)
    assert said == dict.fromkeys(made, (A, 0))
    assert len([name for sender, name, _ in one.office.sent if sender == "one"]) == 3


async def test_large_instances_come_in_several_messages(monkeypatch):
    monkeypatch.setattr(peer_lookup, "MESSAGE_BYTES", 1000)
    one, two = await processes("one", "two")
    made = [two.pending.keep(Instance([f"{number} {'x' * 300}"])) for number in range(10)]
    said = await one.find(*made)
    assert set(said) == set(made)
    assert not any(isinstance(each, Absence) for each in said.values())
    sizes = [len(body) for sender, _, body in one.office.sent if sender == "two"]
    assert len(sizes) == 3
    assert max(sizes) < 2000


async def test_large_texts_come_in_several_messages_whole(monkeypatch):
    monkeypatch.setattr(peer_lookup, "MESSAGE_BYTES", 1000)
    one, two = await processes("one", "two")
    texts = {f"id {number}": f"{number} {'ä' * 300}" for number in range(10)}
    for name, text in texts.items():
        two.pending.keep(A, name, source=f"of {name}", text=text, reading=READING)
    found = await one.peer_lookup.find(list(texts))
    assert {name: each.text for name, each in found.items()} == texts
    assert {name: each.source for name, each in found.items()} == {
        name: f"of {name}" for name in texts
    }
    sizes = [len(body) for sender, _, body in one.office.sent if sender == "two"]
    assert len(sizes) > 2
    assert max(sizes) < 4000


async def test_answers_that_wait_to_be_sent_are_bounded(monkeypatch):
    monkeypatch.setattr(peer_lookup, "MOST_BYTES", 1000)
    _, two = await processes("one", "two")
    two.office.deaf.add("one")
    size = 600

    def ask(number):
        made = two.pending.keep(Instance(["x" * size]))
        two.peer_lookup.on_message(PeerMessage("one", sealed(Question(number, [made]))))

    with two.office.gate.shut() as gate:
        ask(1)
        await gate.reached()
        ask(2)
        ask(3)  # no room for this one
    await two.office.has_sent(2)
    ask(4)
    await two.office.has_sent(3)
    size = 2000
    ask(5)  # nor for one of this size
    await two.peer_lookup.close()
    await many_turns()
    assert [opened(body).number for _, _, body in two.office.sent] == [1, 2, 4]


async def test_only_expected_answers_of_asked_peers_are_accepted():
    one, two, _ = await processes("one", "two", "three")
    one.office.deaf.update(("two", "three"))
    made = two.pending.keep(A)
    asking = one.ask(made)
    await one.office.has_sent(2)

    def answer(sender, number, *what):
        one.peer_lookup.on_message(PeerMessage(sender, sealed(Answer(number, *what))))

    answer("stranger", 1, [Kept(made, 0.0, bytes(B), 1)])
    answer("one", 1, [Kept(made, 0.0, bytes(B), 1)])
    answer("two", 2, [Kept(made, 0.0, bytes(B), 1)])
    answer("two", 1, [Kept("other", 0.0, bytes(B), 1)])
    answer("three", 1, [], [], [made, made])
    await many_turns()
    assert not asking.done()
    answer("two", 1, [Kept(made, 2.0, bytes(A), 1)])
    answer("two", 1, [Kept(made, 3.0, bytes(B), 1)])
    assert await asking == {made: (A, 2)}


async def test_ended_lookups_are_forgotten():
    one, _ = await processes("one", "two")
    one.office.deaf.add("two")
    asking = one.ask("id")
    await one.office.has_sent(1)
    assert len(one.peer_lookup._rounds) == 1
    await time_passes()
    await asking
    await many_turns()
    assert not one.peer_lookup._rounds
    assert not one.peer_lookup._next


async def test_close_waits_for_the_messages_under_way():
    one, _ = await processes("one", "two")
    await one.peer_lookup.close()
    with one.office.gate.shut():
        asking = one.ask("id")
        await one.office.gate.reached()
        closing = asyncio.create_task(one.peer_lookup.close())
        await many_turns()
        assert not closing.done()
    await asyncio.wait_for(closing, PATIENCE)
    assert await asking == {"id": NEVER_SEEN}


# --- damage ---------------------------------------------------------------------------------------


async def messages_of_a_question():
    """Return two processes, a lookup of the first, and its messages, both undelivered."""
    one, two = await processes("one", "two")
    made = two.pending.keep(A)
    one.office.deaf.update(("one", "two"))
    asking = one.ask(made)
    await one.office.has_sent(1)
    two.peer_lookup.on_message(PeerMessage("one", one.office.sent[0][2]))
    await one.office.has_sent(2)
    return one, two, asking, made, [body for _, _, body in one.office.sent]


async def test_damaged_messages_are_left_unread():
    one, two, asking, made, (question, answer) = await messages_of_a_question()
    for body in (question, answer):
        for place in range(len(body)):
            flipped = bytearray(body)
            flipped[place] ^= 1 << place % 8
            for damaged in (bytes(flipped), body[:place], body[place + 1 :]):
                one.peer_lookup.on_message(PeerMessage("two", damaged))
                two.peer_lookup.on_message(PeerMessage("one", damaged))
    await many_turns()
    assert len(one.office.sent) == 2
    assert not asking.done()
    one.peer_lookup.on_message(PeerMessage("two", answer))
    assert await asking == {made: (A, 0)}


@pytest.mark.parametrize(
    "said",
    [
        ["question", 1, ["x"] * 1001],
        ["question", 1, ["x" * 201]],
        ["question", 1, [""]],
        ["question", "1", ["x"]],
        ["question"],
        ["greeting", 1, ["x"]],
        ["answer", 1, [["{made}", -1.0, bytes(A), 1]]],
        ["answer", 1, [["{made}", float("nan"), bytes(A), 1]]],
        ["answer", 1, [["{made}", float("inf"), bytes(A), 1]]],
        ["answer", 1, [["{made}", 0.0, bytes(A)[:-1], 1]]],
        ["answer", 1, [["{made}", 0.0, b"", 1]]],
        ["answer", 1, [["{made}", 0.0, bytes(A), -1]]],
        ["answer", 1, [["{made}", 0.0, bytes(A), 1, 5]]],
        ["answer", 1, [["{made}", 0.0, bytes(A)]]],
        ["answer", 1, {"{made}": 0.0}],
        {"question": 1},
        5,
    ],
)
async def test_messages_that_make_no_sense_are_left_unread(said):
    one, _, asking, made, (_, answer) = await messages_of_a_question()

    def with_id(each):
        if isinstance(each, list):
            return [with_id(one) for one in each]
        return made if each == "{made}" else each

    one.peer_lookup.on_message(PeerMessage("two", sealed(with_id(said))))
    await many_turns()
    assert len(one.office.sent) == 2
    assert not asking.done()
    one.peer_lookup.on_message(PeerMessage("two", answer))
    assert await asking == {made: (A, 0)}


@examples(50)
@given(st.binary(max_size=60))
async def test_an_instance_may_be_any_bytes(data):
    one, _, asking, made, (_, answer) = await messages_of_a_question()
    one.peer_lookup.on_message(PeerMessage("two", sealed(Answer(1, [Kept(made, 0.0, data, 1)]))))
    one.peer_lookup.on_message(PeerMessage("two", answer))
    [(found, _)] = (await asking).values()
    assert isinstance(found, Instance)


# --- labels ---------------------------------------------------------------------------------------


async def labelled(process, instance_id, classes, rank_before=None):
    """Let a process learn a label of an instance that another one has ranked."""
    found = (await process.peer_lookup.find([instance_id]))[instance_id]
    process.peer_lookup.learned(found, classes, rank_before)
    await process.peer_lookup.close()
    await many_turns()


async def test_the_process_that_ranked_scores_its_ranking_once():
    one, two = await processes("one", "two")
    made = two.pending.keep(A, None, ["x", "y"], 0.5)
    await labelled(one, made, ["y"], 1)
    assert two.metrics.served.by_result() == {"first": 0, "later": 1, "missed": 0, "abstained": 0}
    assert two.metrics.served.first_before_learning == 1
    assert two.pending.least_certain(10) == []
    await labelled(one, made, ["x"], 1)
    assert sum(two.metrics.served.by_result().values()) == 1
    assert sum(one.metrics.served.by_result().values()) == 0


async def test_an_instance_waits_on_without_a_true_class():
    one, two = await processes("one", "two")
    made = two.pending.keep(A, None, ["x"], 0.5)
    await labelled(one, made, [])
    assert [each.id for each in two.pending.least_certain(10)] == [made]


async def test_labels_of_a_busy_moment_share_a_message_of_bounded_size(monkeypatch):
    monkeypatch.setattr(peer_lookup, "MESSAGE_IDS", 3)
    one, two = await processes("one", "two")
    made = [two.pending.keep(A, None, ["x"], 0.5) for _ in range(3)]
    found = await one.peer_lookup.find(made)
    sent = len(one.office.sent)
    for each in [*made, made[0], made[1]]:
        one.peer_lookup.learned(found[each], ["x"], None)
    await one.peer_lookup.close()
    await many_turns()
    assert len(one.office.sent) == sent + 1
    assert two.metrics.served.first == 3
