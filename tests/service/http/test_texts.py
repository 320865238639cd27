"""Texts of a service: phrases without spaces, analyses, and the same features for every call."""

import pytest

from manyclass.core.text import TextAnalysis
from manyclass.service.http import instances
from manyclass.service.http.time_slice import run_in_thread
from tests.service.serving import calling

WITHOUT_SPACES = [
    ("今日の東京の天気を教えて", "weather"),
    ("明日は雨が降りますか", "weather"),
    ("大阪行きの電車は何時ですか", "train"),
    ("電車の切符を予約したい", "train"),
    ("我想订一张去北京的火车票", "火车"),
    ("上海明天天气怎么样", "天气"),
    ("อากาศวันนี้เป็นอย่างไร", "อากาศ"),
    ("จองตั๋วรถไฟไปเชียงใหม่", "รถไฟ"),
]


async def first_of(call, text):
    answer = (await call("POST", "/rank", {"text": text})).json()
    return answer["ranked"][0]["class"] if answer["ranked"] else None


async def teach(call, pairs):
    events = [{"text": text, "classes": [name]} for text, name in pairs]
    assert (await call("POST", "/learn", {"events": events})).status_code == 200


async def test_phrases_without_spaces_are_ranked_after_a_few_events(call):
    await teach(call, WITHOUT_SPACES)
    for text, name in [
        ("東京は雨ですか", "weather"),
        ("電車は予約できますか", "train"),
        ("北京的火车", "火车"),
        ("明天天气", "天气"),
        ("อากาศที่เชียงใหม่วันนี้", "อากาศ"),
        ("ตั๋วรถไฟ", "รถไฟ"),
    ]:
        assert await first_of(call, text) == name


async def test_a_text_is_the_same_in_any_form_of_its_letters(call):
    await teach(call, [("Straße Ｎｏ５", "a"), ("ｶﾞｲﾄﾞ", "b"), ("Élan", "c")])  # noqa: RUF001
    assert await first_of(call, "STRASSE") == "a"
    assert await first_of(call, "no5") == "a"
    assert await first_of(call, "ガイド") == "b"
    assert await first_of(call, "e\u0301lan") == "c"


async def test_characters_find_other_forms_of_a_word():
    async with calling(text=TextAnalysis.parse("words+pairs+characters")) as call:
        await teach(call, [("goalkeepers", "hockey"), ("batting", "baseball")])
        assert await first_of(call, "goalkeeping") == "hockey"
        answer = await call("GET", "/features/~goalke")
        assert answer.status_code == 404  # runs have 4 characters
        assert (await call("GET", "/features/~goal")).json()["times_seen"] == 1
        body = {"text": "goalkeeper", "explain": True}
        [ranked] = (await call("POST", "/rank", body)).json()["ranked"][:1]
        assert {each["feature"][0] for each in ranked["features"]} == {"~"}


@pytest.mark.parametrize("analysis", ["words", "words+pairs+characters+unmarked+symbols"])
async def test_a_large_text_is_ranked_as_a_small_one_and_in_a_thread(analysis, monkeypatch):
    passed = []

    async def in_thread(work, *args):
        passed.append(work)
        return await run_in_thread(work, *args)

    monkeypatch.setattr(instances, "run_in_thread", in_thread)
    async with calling(text=TextAnalysis.parse(analysis)) as call:
        await teach(call, WITHOUT_SPACES)
        text = "今日 weather guide ".ljust(70_000)
        small = (await call("POST", "/rank", {"text": text.strip() + " é"})).json()
        assert not passed
        large = (await call("POST", "/rank", {"text": text + "é"})).json()
        assert passed
        assert large["ranked"] == small["ranked"]


async def test_a_text_with_more_features_than_allowed_is_cut():
    settings = {"text": TextAnalysis.parse("words+characters"), "max_features_per_instance": 10}
    async with calling(**settings) as call:
        for text in ("goalies battings", "goalies battings ".ljust(20_000)):
            await call("POST", "/learn", {"text": text, "classes": ["a"]})
            assert (await call("POST", "/rank", {"text": text})).status_code == 200
        assert (await call("GET", "/features/~<goa")).status_code == 200
        assert (await call("GET", "/features/~ngs>")).status_code == 404


async def test_the_statistics_show_the_analysis():
    async with calling(text=TextAnalysis.parse("words")) as call:
        assert (await call("GET", "/stats")).json()["settings"]["MANYCLASS_TEXT"] == "words"
