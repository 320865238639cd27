"""Every setting in force, and where it comes from."""

from manyclass.core.text import TextAnalysis
from manyclass.service.config.settings import TABLE, read
from tests.service.serving import calling


async def test_a_setting_is_shown_with_its_source():
    given = read({"MANYCLASS_MAX_BATCH": "7", "MANYCLASS_PORT": "1"}, {"port": "2"})
    async with calling(max_batch=7, port=2, given=given.given) as call:
        shown = (await call("GET", "/settings")).json()["settings"]
    assert list(shown) == [row.variable for row in TABLE]
    port, batch, learner, keep = (
        shown[f"MANYCLASS_{name}"] for name in ("PORT", "MAX_BATCH", "LEARNER", "SNAPSHOT_KEEP")
    )
    assert (port["value"], port["source"], port["default"]) == ("2", "command line", "8000")
    assert (batch["value"], batch["source"], batch["option"]) == ("7", "environment", "--max-batch")
    assert (learner["value"], learner["source"]) == ("svm", "not given")
    assert (keep["value"], keep["source"]) == ("3", "default")


async def test_an_analysis_of_a_rebuild_is_that_of_the_store():
    words = TextAnalysis.parse("words")
    async with calling(text=words, given={"text": "environment"}) as call:
        answer = await call("GET", "/settings")
        shown = answer.json()["settings"]["MANYCLASS_TEXT"]
        assert (shown["value"], shown["source"]) == ("words", "environment")
        await call("POST", "/rebuild", {"text": "words+pairs"})
        shown = (await call("GET", "/settings")).json()["settings"]["MANYCLASS_TEXT"]
        assert (shown["value"], shown["source"]) == ("words+pairs", "not given")


async def test_keys_are_counted_only():
    headers = {"authorization": "Bearer secret"}
    async with calling(admin_keys=("secret", "other"), rank_keys=("seen",)) as call:
        answer = await call("GET", "/settings", headers=headers)
        assert answer.json()["settings"]["MANYCLASS_ADMIN_KEYS"]["value"] == "2 (hidden)"
        assert "secret" not in answer.text
        assert "seen" not in answer.text
        headers = {"authorization": "Bearer seen"}
        assert (await call("GET", "/settings", headers=headers)).status_code == 403
