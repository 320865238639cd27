from tests.service.faulty import in_loop
from tests.service.serving import assert_problem, calling


@in_loop
async def test_tells_what_there_is():
    async with calling(rating=0, admin_keys=("secret-key",)) as call:
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
        }
        assert set(told["accuracy"]) == {"100", "1000", "10000"}
        assert told["newest_snapshot"]["seq"] == 4
        assert told["late_labels"]["waiting"] == 1
        assert told["bytes"] > 0
        assert told["resident_bytes"] >= told["bytes"]
        assert told["settings"]["MANYCLASS_RATING"] == "0"
        assert told["durability"]
        assert told["recovery"]["replayed"] == 0
        assert "secret" not in response.text


@in_loop
async def test_an_empty_service_has_stats_too():
    async with calling() as call:
        told = (await call("GET", "/stats")).json()
        assert told["outdegrees"] == []
        assert told["accuracy"]["100"]["examples"] == 0


@in_loop
async def test_needs_a_key():
    async with calling(rank_keys=("r",)) as call:
        assert_problem(await call("GET", "/stats"), 401)
        response = await call("GET", "/stats", headers={"authorization": "Bearer r"})
        assert response.status_code == 200
