"""The program that times the analysis of texts."""

from benchmarks import texts


def test_each_text_is_timed_by_each_analysis(monkeypatch, capsys):
    monkeypatch.setattr(texts, "ROUNDS", 1)
    monkeypatch.setattr(texts, "ROUND_NANOSECONDS", 1)
    assert texts.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(texts.texts())
    for line in lines[1:]:
        assert [float(number) > 0 for number in line.split()[-3:]] == [True] * 3


def test_long_texts_have_one_length():
    assert {len(text) for text in texts.texts().values()} == {len(texts.QUESTION), texts.LONG}
