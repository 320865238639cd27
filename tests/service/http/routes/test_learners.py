from urllib.parse import quote

import pytest

from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from tests.service.faulty import PATIENCE
from tests.service.serving import assert_problem, calling, side_by_side

LEARNER, OTHERS = "ff(margin_threshold=0)", ("pa", "pa(replay=2)")
LABELS = [LEARNER, *OTHERS]
LESSONS = [(f"f{n % 7} g{n % 5} always", f"c{n % 6}") for n in range(40)]


def three():
    return calling(learner=LEARNER, shadows=OTHERS)


def promoting(label):
    return f"/learners/{quote(label, safe='')}/promote"


async def learners(call):
    return (await call("GET", "/learners")).json()["learners"]


async def test_tells_what_each_learner_holds_and_how_well_it_does():
    async with three() as call:
        assert [each["learn_seconds"] for each in await learners(call)] == [None] * 3
        ranks = (await call.learn(*LESSONS))["ranks_before"]
        told = (await call("GET", "/learners")).json()
        assert told["seq"] == 40
        found = told["learners"]
        assert [each["learner"] for each in found] == LABELS
        assert [each["primary"] for each in found] == [True, False, False]
        assert [each["primary"] for each in found] == [True, False, False]
        for each, enrolled in zip(found, call.app.engine.model.enrolled, strict=True):
            given = dict(each["options"])
            assert Options.of(given.pop("learner"), **given) == enrolled.learner.options
            assert "vote" not in given
            for name in ("features", "classes", "edges", "learned", "bytes", "resident_bytes"):
                assert each[name] == getattr(enrolled.learner, name)
            assert (each["classes"], each["learned"]) == (6, 40)
            assert each["evicted_features"] == each["evicted_classes"] == 0
            assert each["learn_seconds"] > 0
            windows = {
                str(n): {**told, "taxonomic_loss": None, "parent_accuracy": None}
                for n, told in enrolled.progress.windows().items()
            }
            assert each["accuracy"] == windows
        assert found[0]["accuracy"]["100"]["r1"] == ranks.count(1) / 40
        assert len({each["accuracy"]["100"]["mrr"] for each in found}) == 3
        stats = (await call("GET", "/stats")).json()
        assert stats["learners"] == found
        assert stats["accuracy"] == found[0]["accuracy"]
        assert (stats["edges"], stats["bytes"]) == (found[0]["edges"], found[0]["bytes"])
        assert stats["settings"]["MANYCLASS_SHADOWS"] == "pa,pa(replay=2)"


async def test_a_committee_tells_of_each_member_too():
    shadow = "committee(members=pa+ff(rating=0),vote=score)"
    async with calling(shadows=(shadow,)) as call:
        await call.learn(*LESSONS)
        first, committee = await learners(call)
        assert first["members"] == []
        assert committee["learner"] == shadow
        assert [each["learner"] for each in committee["members"]] == ["pa", "ff(rating=0,seed=1)"]
        for each in committee["members"]:
            assert each["accuracy"]["100"]["examples"] == 40
            assert each["accuracy"]["100"]["r5"] > 0


async def test_a_promoted_shadow_answers_at_once():
    async with three() as call:
        await call.learn(*LESSONS)
        before = await learners(call)
        request = {"features": ["f1", "g1", "always"], "id": "i"}
        ranked = (await call("POST", "/rank", request)).json()["ranked"]
        answer = await call("POST", promoting("pa(replay=2)"))
        assert answer.json() == {"seq": 41, "learner": "pa(replay=2)"}
        after = await learners(call)
        assert [each["learner"] for each in after] == [*LABELS[2:], "pa", LEARNER]
        assert [each["primary"] for each in after] == [True, False, False]
        for each in before:
            [same] = [other for other in after if other["learner"] == each["learner"]]
            assert same == each | {"primary": same["primary"]}
        other = (await call("POST", "/rank", request)).json()["ranked"]
        assert other != ranked
        await call("POST", promoting(LEARNER))
        assert (await call("POST", "/rank", request)).json()["ranked"] == ranked


async def test_names_are_looked_up_in_the_primary_learner():
    async with three() as call:
        await call.learn(*LESSONS)
        weights = (await call("GET", "/features/always")).json()["edges"]
        await call("POST", promoting("pa"))
        edges = (await call("GET", "/features/always")).json()["edges"]
        assert edges != weights
        assert min(edge["weight"] for edge in edges) < 0
        await call("DELETE", "/classes/c1")
        await call("POST", promoting(LEARNER))
        assert_problem(await call("GET", "/classes/c1"), 404)  # all forgot it


async def test_to_promote_the_one_that_answers_changes_nothing():
    async with three() as call:
        before = await learners(call)
        for _ in range(2):
            assert (await call("POST", promoting(LEARNER))).status_code == 200
        assert await learners(call) == before


async def test_a_learner_is_found_however_its_options_are_written():
    async with calling(shadows=("pa(replay=4, negatives=3)",)) as call:
        answer = await call("POST", promoting("pa(replay=4, negatives=3)"))
        assert answer.json() == {"seq": 1, "learner": "pa(negatives=3,replay=4)"}


async def test_the_log_tells_of_a_promotion_that_changes_something(caplog):
    caplog.set_level("INFO")
    async with calling(shadows=("pa",)) as call:
        for label in ("svm", "pa", "pa"):
            await call("POST", promoting(label))
        told = [each.message for each in caplog.records if "the primary learner" in each.message]
        assert told == ["event 2 made pa the primary learner"]


@pytest.mark.parametrize("label", ["ema", "pa(replay=3)", "p", "FF", "x/y"])
async def test_nobody_else_can_be_promoted(label):
    async with three() as call:
        digest = call.digest()
        problem = assert_problem(await call("POST", promoting(label)), 404)
        there = f"'{LEARNER}', 'pa', 'pa(replay=2)'"
        assert problem["detail"] == f"no learner is named {label!r}; the learners are {there}"
        assert call.digest() == digest
        assert_problem(await call("POST", "/learners//promote"), 422)
        assert_problem(await call("POST", "/learners/%ff/promote"), 400)


async def test_a_promotion_reaches_every_process():
    async with side_by_side(shadows=("pa",)) as (one, two):
        await one.learn(*LESSONS)
        seq = (await two("POST", promoting("pa"))).json()["seq"]
        for call in (one, two):
            assert await call.app.engine.reached(seq, PATIENCE)
            assert [each["learner"] for each in await learners(call)] == ["pa", "svm"]
        assert one.digest() == two.digest()


async def test_a_score_that_may_be_negative_is_answered_unless_a_threshold_is_given():
    async with calling(learner="pa") as call:
        await call.learn(("a", "x"), ("a b", "y"), ("b", "y"), ("a", "x"), ("a c", "y"))
        request = {"features": ["c", "b"]}
        everything = (await call("POST", "/rank", request)).json()["ranked"]
        assert min(each["score"] for each in everything) < 0
        for threshold in (0, -1e9, None):
            above = (await call("POST", "/rank", request | {"threshold": threshold})).json()
            least = -1e9 if threshold is None else threshold
            assert above["ranked"] == [each for each in everything if each["score"] > least]


async def test_options_another_process_has_set_are_told():
    async with calling(shadows=("pa",)) as call:
        model_set = call.app.engine.model.model_set.to_dict()
        model_set["shadows"][0]["negatives"] = 2
        await call.app.engine.submit([Event.configure(model_set)])
        assert [each["learner"] for each in await learners(call)] == ["svm", "pa(negatives=2)"]


async def test_a_shadow_is_added_and_removed_without_a_restart():
    async with three() as call:
        await call.learn(*LESSONS)
        added = await call("POST", "/learners", {"learner": "ff( rating=3 )"})
        assert added.json() == {"seq": 41, "learner": "ff(rating=3)", "rebuild": None}
        await call.learn(*LESSONS[:2])
        found = {each["learner"]: each for each in await learners(call)}
        assert [*found] == [*LABELS, "ff(rating=3)"]
        assert found["ff(rating=3)"]["learned"] == 2
        gone = await call("DELETE", "/learners/pa(replay=2)")
        assert gone.json() == {"seq": 44, "learner": "pa(replay=2)"}
        assert [each["learner"] for each in await learners(call)] == [LEARNER, "pa", "ff(rating=3)"]
        metrics = (await call("GET", "/metrics")).text
        assert 'learner="ff(rating=3)"' in metrics
        assert 'learner="pa(replay=2)"' not in metrics


async def test_a_shadow_is_added_with_the_whole_history():
    async with three() as call:
        await call.learn(*LESSONS)
        added = (await call("POST", "/learners", {"learner": "ff", "history": True})).json()
        assert (added["learner"], added["rebuild"]["seq"]) == ("ff", added["seq"])
        assert added["rebuild"]["events"] == 41
        found = {each["learner"]: each for each in await learners(call)}
        assert found["ff"]["learned"] == found[LEARNER]["learned"] == 40
    async with calling(history=False) as call:
        assert_problem(await call("POST", "/learners", {"learner": "ff", "history": True}), 404)


async def test_learners_that_cannot_be_added_or_removed_are_refused():
    async with three() as call:
        digest = call.digest()
        for wrong in ("nobody", "pa(rating=-1)", "pa("):
            answer = await call("POST", "/learners", {"learner": wrong})
            assert_problem(answer, 404, "#/learner")
        assert_problem(await call("POST", "/learners", {"learner": 7}), 422, "#/learner")
        assert_problem(await call("POST", "/learners", {}), 422)
        for history in (False, True):
            body = {"learner": LEARNER, "history": history}
            assert_problem(await call("POST", "/learners", body), 409)
        problem = assert_problem(await call("DELETE", f"/learners/{LEARNER}"), 409)
        assert "promote another one first" in problem["detail"]
        assert_problem(await call("DELETE", "/learners/ema"), 404)
        assert call.digest() == digest


async def test_added_and_removed_learners_reach_every_process():
    async with side_by_side(shadows=("pa",)) as (one, two):
        await one.learn(*LESSONS)
        await two("POST", "/learners", {"learner": "ff"})
        seq = (await one("DELETE", "/learners/pa")).json()["seq"]
        for call in (one, two):
            assert await call.app.engine.reached(seq, PATIENCE)
            assert [each["learner"] for each in await learners(call)] == ["svm", "ff"]
        assert one.digest() == two.digest()
