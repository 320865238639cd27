from manyclass.service.store.errors import StoreUnavailable
from tests.service.serving import assert_problem


async def test_take_list_and_go_back(call):
    await call.learn(("a", "x"))
    before = (await call("POST", "/rank", {"features": ["a"]})).json()["ranked"]
    call.clock.now += 10
    taken = await call("POST", "/snapshots")
    assert taken.status_code == 201
    assert (taken.json()["seq"], taken.json()["taken_at"]) == (1, call.clock.now)
    await call.learn(("a", "y"), ("a", "y"))
    listed = (await call("GET", "/snapshots")).json()["snapshots"]
    assert listed[0] == taken.json()
    assert [each["seq"] for each in listed] == [1, 0]

    answer = (await call("POST", "/snapshots/1/restore")).json()
    assert answer == {"seq": 4, "restored": 1}
    again = (await call("POST", "/rank", {"features": ["a"]})).json()
    assert (again["ranked"], again["seq"]) == (before, 4)
    assert (await call.learn(("a", "x")))["seq"] == 5


async def test_a_snapshot_that_is_not_there_or_not_whole(call):
    await call.learn(("a", "x"))
    await call("POST", "/snapshots")
    before = call.digest()
    assert_problem(await call("POST", "/snapshots/77/restore"), 404)
    for seq in ("-1", "x", "1.5", str(2**63)):
        problem = assert_problem(await call("POST", f"/snapshots/{seq}/restore"), 422)
        assert problem["errors"][0]["parameter"] == "seq"
    call.store.damage_snapshot(1)
    assert_problem(await call("POST", "/snapshots/1/restore"), 409)
    assert call.digest() == before


async def test_a_store_that_cannot_keep_it(call):
    await call.learn(("a", "x"))
    call.store.save_error = StoreUnavailable("no room")
    response = await call("POST", "/snapshots")
    assert "no room" in assert_problem(response, 503)["detail"]
    assert "retry-after" in response.headers
