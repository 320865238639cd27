"""Modules of the console that repeat work of the service: with the same results."""

import gzip
from importlib.resources import files

import pytest

from manyclass.core.calibration import interval_of
from manyclass.core.text import TextAnalysis
from manyclass.core.words import features, instances, sentences, with_gap
from tests.core.scripts import EXAMPLES

pytestmark = pytest.mark.slow  # needs chromium

GAPS = """async text => {
    const { featuresAround, sentences } = await import("/console/gap_words.js");
    const found = [];
    for (const words of sentences(text))
        words.forEach((word, position) => found.push([featuresAround(words, position), word]));
    return found;
}"""
QUANTILES = """async () => {
    const { parsed, buckets, quantile } = await import("/console/prometheus.js");
    const of = counts => parsed(["0.1", "0.2", "+Inf"].map((bound, index) =>
        `manyclass_seconds_bucket{le="${bound}",path="/a\\\\"b"} ${counts[index]}`).join("\\n"));
    const [before, after] = [[1, 1, 1], [1, 11, 11]].map(each => buckets(of(each), "seconds", {}));
    return [quantile(0.5, before, after), quantile(0.5, before, before), quantile(0.99, [], after)];
}"""
TINT = """async ([text, votes]) => {
    const { pieces } = await import("/console/tint.js");
    const words = pieces(text, votes).filter(each => each.score !== null);
    return words.map(each => [each.text, each.score]);
}"""
CHANGED_LETTERS = (  # that the service parts, puts together, or folds in a way of its own
    "น้ำใส ນ້ຳ ｶﾞｲﾄﾞ ﾊﾟ ﷺ ꮳꮃꭹ Ꮳ ẞ ŉ ΐ ᾳ İi\u0307 ½㎏ ㄱㅏ ﾡￂ \u1112\u1161\u11ab Ⅷ ㎞²",
    "e\u0323\u0302 a\u200d\u0301 rock\u02bcn\u02bcroll 〇二",
    "ab🅰cd ★★☎ 👩🏽\u200d💻x ☎\ufe0f ™\u200d💻 1\ufe0f⃣",
)


@pytest.fixture
def page(empty, look):
    return look(empty)


def test_the_gaps_of_the_novel_are_those_of_the_core(page):
    packed = files("manyclass.service.samples").joinpath("persuasion.txt.gz").read_bytes()
    novel = gzip.decompress(packed).decode("ascii")[:60_000]
    expected = [[around, word] for words in sentences(novel) for around, word in instances(words)]
    assert len(expected) > 9000
    assert page.evaluate(GAPS, novel) == expected


def test_a_gap_in_a_sentence_has_the_features_of_the_core(page):
    script = """async text => (await import("/console/gap_words.js")).gapFeatures(text)"""
    for text in ("Captain _ was in the room", "I am _", "_, he said"):
        assert page.evaluate(script, text) == features(*with_gap(text))
    assert page.evaluate(script, "a snake_case name") is None


def test_quantiles_lie_within_their_bucket(page):
    middle, none, high = page.evaluate(QUANTILES)
    assert middle == pytest.approx(0.15)
    assert none is None
    assert 0.1 < high <= 0.2


def test_every_feature_of_a_text_tints_its_words(page):
    analysis = TextAnalysis.parse("words+pairs+characters")
    for text in (*(each.text for each in EXAMPLES), *CHANGED_LETTERS):
        votes = [{"feature": name, "score": 1} for name in analysis.features_of(text)]
        words = page.evaluate(TINT, [text, votes])
        assert sum(score for _, score in words) == pytest.approx(len(votes)), text


def test_two_words_of_one_letter_are_tinted_as_one(page):
    votes = [{"feature": name, "score": 1} for name in ("น้ํ", "า", "الله", "2")]
    expected = [["น้ำ", 2], ["ใ", 0], ["ﷺ", 1], ["½", 1]]
    assert page.evaluate(TINT, ["น้ำใ ﷺ ½", votes]) == expected


def test_votes_are_divided_among_words(page):
    votes = [{"feature": "a", "score": 2}, {"feature": "a b", "score": 1}]
    assert page.evaluate(TINT, ["A b, a!", votes]) == [["A", 1.5], ["b", 0.5], ["a", 1]]


def test_the_messages_that_a_wanted_accuracy_still_needs(untaught_page):
    """By the interval of the service, if answers go on to be right as often."""
    script = """async ([point, target]) =>
        (await import("/console/operating_points.js")).missing(point, target)"""

    def missing(answers, right, coverage, target):
        point = {"answers": answers, "right": right, "coverage": coverage}
        return untaught_page.evaluate(script, [point, target])

    assert interval_of(160, 164)[0] < 0.95 <= interval_of(200, 205)[0]  # both are 97.6 % right
    assert missing(164, 160, 0.55, 0.95) == 60  # for 33 more answers
    assert missing(20, 20, 0.2, 0.8) == 10  # enough of them are right already
    assert missing(163, 155, 0.55, 0.96) is None  # too few are right
    assert missing(100, 96, 0.001, 0.955) is None  # more than can be foreseen
