"""The program that times the analysis of texts."""

from benchmarks import texts

QUESTIONS = [{"text": "Where is my card?", "classes": ["card"]}]
SAMPLES = (QUESTIONS, [{"text": "The council passed a budget.", "classes": ["news"]}])


def test_each_text_is_timed_by_each_analysis(monkeypatch):
    monkeypatch.setattr(texts, "ROUNDS", 1)
    monkeypatch.setattr(texts, "MEASURED", 1)
    rows = texts.analysis_rows(SAMPLES)
    assert len(rows) == len(texts.texts(SAMPLES))
    assert all(float(row[each]) > 0 for row in rows for each in texts.ANALYSES)


def test_a_text_is_cut_between_words():
    assert texts.pieces("one two  three fourteen", 8) == ["one two", "three"]


def test_made_texts_have_one_length_and_many_pairs():
    made = [some for name, some in texts.texts(SAMPLES).items() if name.startswith("made")]
    assert {len(text) for some in made for text in some} == {texts.LONG}
    for some in made:
        assert len({*some}) == len(some)
        words = [*texts.TextAnalysis.parse("words+pairs").features_of(some[0])]
        assert sum(" " in each for each in words) > 100
