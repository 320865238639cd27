"""The program that times the analysis of texts."""

from benchmarks import texts


def test_each_text_is_timed_by_each_analysis(monkeypatch):
    monkeypatch.setattr(texts, "ROUNDS", 1)
    monkeypatch.setattr(texts, "ROUND_NANOSECONDS", 1)
    rows = texts.analysis_rows()
    assert len(rows) == len(texts.texts())
    assert all(float(row[each]) > 0 for row in rows for each in texts.ANALYSES)


def test_a_text_is_cut_between_words():
    assert texts.pieces("one two  three fourteen", 8) == ["one two", "three"]


def test_long_texts_have_one_length():
    assert {len(text) for text in texts.texts().values()} == {len(texts.QUESTION), texts.LONG}
