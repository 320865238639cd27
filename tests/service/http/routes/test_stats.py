from manyclass.core.event import Event
from manyclass.core.model_set import ModelSet
from tests.service.faulty import PATIENCE
from tests.service.serving import assert_problem, calling, side_by_side


async def test_tells_what_there_is():
    async with calling(max_classes=9, admin_keys=("secret-key",)) as call:
        admin = {"authorization": "Bearer secret-key"}
        events = [
            {"features": ["a"], "classes": ["x"]},
            {"features": ["b", "c"], "classes": ["y"]},
            {"features": ["a"], "classes": ["x"]},
            {"features": ["a"], "classes": ["y"]},
        ]
        await call("POST", "/learn", {"events": events}, headers=admin)
        await call("POST", "/rank", {"features": ["a"]}, headers=admin)
        call.clock.now += 1
        await call("POST", "/snapshots", headers=admin)
        response = await call("GET", "/stats", headers=admin)
        told = response.json()
        sizes = [
            told[name] for name in ("features", "classes", "edges", "learned", "seq", "log_seq")
        ]
        assert sizes == [3, 2, 4, 4, 4, 4]
        assert told["outdegrees"] == [0, 2, 1]
        assert told["accuracy"]["100"] == {
            "examples": 4,
            "r1": 0.25,
            "r5": 0.25,
            "r10": 0.25,
            "mrr": 0.25,
            "taxonomic_loss": None,
            "parent_accuracy": None,
        }
        assert set(told["accuracy"]) == {"100", "1000", "10000"}
        assert told["newest_snapshot"]["seq"] == 4
        assert told["late_labels"]["waiting"] == 1
        assert told["bytes"] > 0
        assert told["resident_bytes"] >= told["bytes"]
        assert told["settings"]["MANYCLASS_MAX_CLASSES"] == "9"
        assert told["durability"]
        assert told["recovery"]["replayed"] == 0
        assert "secret" not in response.text


async def test_an_empty_service_has_stats_too(call):
    told = (await call("GET", "/stats")).json()
    assert told["outdegrees"] == []
    assert told["accuracy"]["100"]["examples"] == 0


async def test_tells_a_hash_of_the_state_when_asked(call):
    await call.learn(("a", "x"))
    told = (await call("GET", "/stats?digest=yes")).json()
    assert (told["seq"], told["digest"]) == (1, call.digest())
    for path in ("/stats", "/stats?digest=no"):
        assert (await call("GET", path)).json()["digest"] is None
    for wrong in ("", "1", "true", "YES"):
        assert_problem(await call("GET", f"/stats?digest={wrong}"), 422)


async def test_the_hash_is_of_the_moment_that_seq_tells(call, monkeypatch):
    await call.learn(("a", "x"))
    before = call.digest()
    digest = call.app.engine.digest

    async def slowly():
        made = await digest()
        await call.learn(("b", "y"))
        return made

    monkeypatch.setattr(call.app.engine, "digest", slowly)
    told = (await call("GET", "/stats?digest=yes")).json()
    assert (told["seq"], told["digest"]) == (1, before)


async def test_tells_who_else_uses_the_store():
    async with side_by_side() as (one, two):
        await one.learn(("a", "x"), ("b", "y"))
        assert await two.app.engine.reached(2, PATIENCE)
        told = {}
        for call in (one, two):
            told[call.store.name] = (await call("GET", "/stats?digest=yes")).json()
        assert [each["process"] for each in told.values()] == ["one", "two"]
        assert sorted(each["leads"] for each in told.values()) == [False, True]
        for each in told.values():
            processes = {one["name"]: one for one in each["processes"]}
            assert list(processes) == ["one", "two"]
            assert set(processes["one"]) == {"name", "seq", "leads"}
            assert processes["one"]["leads"] == told["one"]["leads"]
        assert told["one"]["digest"] == told["two"]["digest"]
        assert {each["seq"] for each in told.values()} == {2}


async def test_tells_of_nobody_before_the_store_has_answered(monkeypatch):
    async with side_by_side() as (one, _):
        monkeypatch.setattr(one.app.engine.cluster, "heartbeat", None)
        assert (await one("GET", "/stats")).json()["processes"] == []


async def test_to_hash_the_state_needs_an_admin_key():
    async with calling(rank_keys=("r",), admin_keys=("a",)) as call:
        for key, status in (("r", 403), ("a", 200)):
            headers = {"authorization": f"Bearer {key}"}
            answer = await call("GET", "/stats?digest=yes", headers=headers)
            assert answer.status_code == status
        assert_problem(await call("GET", "/stats?digest=yes"), 401)


async def test_the_options_shown_are_those_of_the_model(call):
    engine = call.app.engine
    other = ModelSet(engine.model.options.replace(rating=77))
    await engine.submit(
        [Event.configure(other.to_dict())]
    )  # as another process on the store may do
    shown = (await call("GET", "/stats")).json()["settings"]
    assert shown["MANYCLASS_LEARNER"] == "svm(rating=77)"
    assert shown["MANYCLASS_PORT"] == "8000"
