"""The confidence of an answer: with every ranking, of every learner, over restarts."""

import pytest

from manyclass.core.reliability import calibration_error
from manyclass.service.observability.catalogue import LEAST_OUTCOMES
from manyclass.service.store import open_store
from tests.service.faulty import Clock
from tests.service.serving import assert_problem, calling

# a class has its own feature; every fifth instance has another class's
LESSONS = [(f"f{(n + (n % 5 == 0)) % 7} always", f"c{n % 7}") for n in range(300)]
INSTANCE = {"features": ["f3", "always"]}


async def ranked(call, **more):
    response = await call("POST", "/rank", INSTANCE | more)
    assert response.status_code == 200
    return response.json()


async def first_learner(call):
    return (await call("GET", "/learners")).json()["learners"][0]


async def test_nothing_is_known_before_a_hundred_outcomes(call):
    await call.learn(*LESSONS[:90])
    answer = await ranked(call)
    assert answer["confidence"] is None
    assert answer["ranked"]
    assert "abstained" not in answer
    assert (await first_learner(call))["confidence"]["calibration_error"] is None
    await call.learn(*LESSONS[90:])
    assert 0 < (await ranked(call))["confidence"] < 1
    nothing = (await call("POST", "/rank", {"features": ["unheard of"]})).json()
    assert (nothing["ranked"], nothing["confidence"]) == ([], None)


async def test_it_is_of_the_best_of_all_classes_under_any_filter(call):
    await call.learn(*LESSONS)
    usual = await ranked(call)
    for more in ({"k": 1}, {"k": 100}, {"explain": True}, {"threshold": 1e9}):
        assert (await ranked(call, **more))["confidence"] == usual["confidence"]
    assert (await ranked(call, k=1))["ranked"] == usual["ranked"][:1]
    many = (await call("POST", "/rank", {"instances": [INSTANCE] * 2, "k": 1})).json()
    for result in many["results"]:
        assert set(result) == {"id", "ranked", "confidence"}
        assert result["confidence"] == usual["confidence"]


async def test_answers_below_the_limit_are_abstained(call):
    await call.learn(*LESSONS)
    usual = await ranked(call)
    sure = usual["confidence"]
    assert (await ranked(call, min_confidence=sure))["ranked"] == usual["ranked"]
    abstained = await ranked(call, min_confidence=sure + 1e-9, explain=True)
    assert (abstained["ranked"], abstained["abstained"]) == ([], True)
    assert abstained["confidence"] == sure
    unknown = {"features": ["unheard of"]}
    body = {"instances": [INSTANCE, unknown], "min_confidence": 0}
    known, other = (await call("POST", "/rank", body)).json()["results"]
    assert "abstained" not in known
    assert other["abstained"] is True
    assert (await call.metrics())["abstained_total"] == 2
    late = await call("POST", "/learn", {"id": abstained["id"], "classes": ["late"]})
    assert late.status_code == 200


@pytest.mark.parametrize("least", [-0.1, 1.1, "much"])
async def test_a_limit_is_a_probability(call, least):
    answer = await call("POST", "/rank", INSTANCE | {"min_confidence": least})
    assert_problem(answer, 422, "#/min_confidence")


async def test_each_learner_is_reported_by_itself():
    async with calling(shadows=("pa",)) as call:
        for _ in range(4):
            await call.learn(*LESSONS)
        told = (await call("GET", "/learners")).json()["learners"]
        enrolled = call.app.engine.model.enrolled
        metrics = await call.metrics()
        for each, own, role in zip(told, enrolled, ("primary", "shadow"), strict=True):
            bins, found = own.calibration.reliability, each["confidence"]
            assert found["calibration_error"] == calibration_error(bins) > 0
            assert found["brier"] == own.calibration.brier
            assert [b["outcomes"] for b in found["reliability"]] == [b.outcomes for b in bins]
            for shown, one in zip(found["reliability"], bins, strict=True):
                empty = one.outcomes == 0
                assert shown["right"] == (None if empty else one.right / one.outcomes)
                assert shown["confidence"] == (None if empty else one.confidence / one.outcomes)
            name = f'calibration_error{{learner="{own.label}",role="{role}"}}'
            assert metrics[name] == found["calibration_error"]
        assert told[0]["confidence"] != told[1]["confidence"]


async def test_metrics_omit_an_error_explained_by_chance(call):
    kept = call.app.engine.model.answering.calibration
    outcomes = [0]
    while outcomes[-1] < LEAST_OUTCOMES + 100:
        await call.learn(*LESSONS[:100])
        outcomes.append(sum(each.outcomes for each in kept.reliability))
        told = [name for name in await call.metrics() if name.startswith("calibration_error")]
        assert len(told) == (outcomes[-1] >= LEAST_OUTCOMES)
    assert any(0 < each < LEAST_OUTCOMES for each in outcomes)


async def test_a_promoted_learner_brings_its_own():
    async with calling(shadows=("pa",)) as call:
        await call.learn(*LESSONS)
        before = (await ranked(call))["confidence"]
        shadow = call.app.engine.model.shadows["pa"]
        await call("POST", "/learners/pa/promote")
        after = (await ranked(call))["confidence"]
        assert before != after
        assert call.app.engine.model.answering.calibration is shadow.calibration


async def test_it_is_the_same_after_a_restart(tmp_path):
    url = f"sqlite:{tmp_path / 'a.db'}"
    async with calling(store=open_store(url, Clock())) as call:
        await call.learn(*LESSONS)
        before, learner = await ranked(call), await first_learner(call)
    async with calling(store=open_store(url, Clock())) as call:
        after = await ranked(call)
        assert after["confidence"] == before["confidence"]
        assert (await first_learner(call))["confidence"] == learner["confidence"]
