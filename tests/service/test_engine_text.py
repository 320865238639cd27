"""The analysis of texts of a store: begun with, kept, and never replaced by a setting."""

import pytest

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import SettingError, Settings, read
from manyclass.service.engine import Engine
from tests.service.engines import engine_on, until
from tests.service.faulty import Clock, learn

CHARACTERS = TextAnalysis.parse("words+characters")
WORDS = TextAnalysis()


def settings_of(text):
    return read({"MANYCLASS_TEXT": text})


def test_the_setting_names_the_parts():
    assert settings_of("words+characters").text == CHARACTERS
    assert settings_of("").text is None
    assert settings_of("words+characters").shown()["MANYCLASS_TEXT"] == "words+characters"
    assert Settings().shown()["MANYCLASS_TEXT"] == ""
    shown = Settings().shown(Model(Options(), text=CHARACTERS))
    assert read(shown).text == CHARACTERS


@pytest.mark.parametrize("wrong", ["characters", "words+letters", "words pairs"])
def test_a_wrong_setting_says_which_parts_there_are(wrong):
    with pytest.raises(SettingError) as caught:
        settings_of(wrong)
    assert str(caught.value) == (
        f"MANYCLASS_TEXT={wrong!r}: must be words, or words with any of pairs, characters,"
        " unmarked, symbols, as words+pairs"
    )


async def test_a_new_store_takes_the_setting_and_keeps_it_without_one(store, start):
    engine = await start(store, text=CHARACTERS)
    assert engine.model.text == CHARACTERS
    await engine.submit([learn("a", "x")])
    digest = engine.model.digest()
    killed = await start(store)  # from the snapshot of the empty model
    assert (killed.model.text, killed.model.digest()) == (CHARACTERS, digest)
    await killed.close()
    again = await start(store, text=CHARACTERS)
    assert (again.status, again.model.text) == ("ready", CHARACTERS)
    assert again.model.digest() == digest


async def test_a_new_store_has_the_default(store, start):
    assert (await start(store)).model.text == DEFAULT_TEXT


@pytest.mark.parametrize("reconfigure", [False, True])
async def test_another_setting_than_that_of_the_store_is_refused(store, start, reconfigure):
    engine = await start(store, text=CHARACTERS)
    await engine.submit([learn("a", "x")])
    await engine.close()
    refused = await start(store, text=WORDS, reconfigure=reconfigure)
    assert refused.status == "failed"
    assert "MANYCLASS_TEXT='words': the store has learned with words+characters" in refused.failure
    assert "start with MANYCLASS_TEXT=words+characters or without it" in refused.failure
    assert store.last_seq == 1


async def test_promotion_options_and_a_restore_keep_the_analysis(store, start):
    engine = await start(store, text=CHARACTERS, shadows=("ff",))
    await engine.submit([learn("a", "x")])
    taken = await engine.take_snapshot()
    await engine.submit([Event.promote("ff")])
    await engine.submit([learn("b", "y")])
    assert engine.model.text == CHARACTERS
    await engine.restore(taken.seq)
    assert engine.model.text == CHARACTERS
    await engine.close()
    engine = await start(store, learner="ff(rating=3)", reconfigure=True)
    assert (engine.status, engine.model.text) == ("ready", CHARACTERS)


@pytest.mark.usefixtures("short_waits")
async def test_every_process_on_a_log_has_the_analysis_of_the_first(log):
    async with engine_on(log, "A", text=CHARACTERS) as first:
        await first.submit([learn("a", "x")])
        other = Engine(Settings(text=WORDS), Cluster(log.store("C")), Clock())
        await other.start()
        assert "has learned with words+characters" in other.failure
        await other.close()
        async with engine_on(log, "B") as second:
            assert second.model.text == CHARACTERS
            assert second.model.rank(Instance(["a"])) == first.model.rank(Instance(["a"]))
            await second.submit([learn("b", "y")])
            for taken in log.inner.snapshots():
                log.inner.delete_snapshot(taken.seq)
            log.lose_after(1)  # both restore the state anew
            await until(lambda: second.model.seq == first.model.seq == 1)
            assert second.model.text == first.model.text == CHARACTERS
