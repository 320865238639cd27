"""The time of the analysis of texts, in nanoseconds of CPU a character: python -m benchmarks.texts

Texts of some languages, short and long, by three analyses; the median of many rounds.
"""
# ruff: noqa: RUF001 (the signs of Chinese are meant)

import sys
from statistics import median
from time import thread_time_ns

from manyclass.core.text import TextAnalysis

ROUNDS = 31
ROUND_NANOSECONDS = 2_000_000
LONG = 2_000  # characters

ANALYSES = ("words+pairs", "words+pairs+characters", "words+pairs+characters+unmarked+symbols")
QUESTION = "What is the exchange rate for my card when I travel abroad?"
SENTENCES = {
    "English": (
        "The council passed a budget on Monday, after two weeks of talks on schools,",
        "roads and the price of water; critics said that small towns had too little attention.",
    ),
    "German": (
        "Für die größte Übersicht wählen Sie die Schaltfläche; danach prüft das System die",
        "Einträge und zeigt sämtliche Änderungen der vergangenen Woche in einer schönen Tabelle.",
    ),
    "Hindi": ("हिन्दी भाषा में लिखा हुआ यह पाठ बहुत ही सरल और स्पष्ट है,", "और इसे पढ़ना आसान है।"),
    "Chinese": ("我想订一张去北京的火车票，明天天气怎么样？", "请告诉我时间和价格，谢谢。"),
    "Arabic": ("هذا النص مكتوب باللغة العربية وهو سهل القراءة والفهم،", "ويحتوي كلمات مُشَكَّلَة."),
    "Russian": (
        "Это простой текст на русском языке, который нужно разобрать",
        "на слова и пары слов.",
    ),
}


def texts() -> dict[str, str]:
    """Return the texts by name: a question, and 2,000 characters of each language."""
    found = {"a question": QUESTION}
    for language, (first, second) in SENTENCES.items():
        words = f"{first} {second}".split(" ")
        # each round of the sentence begins at another word, so that pairs differ
        turned = [" ".join(words[at:] + words[:at]) for at in range(len(words))]
        whole = " ".join(turned)
        found[language] = (whole * (LONG // len(whole) + 1))[:LONG]
    return found


def nanoseconds(analysis: TextAnalysis, text: str) -> float:
    """Return the median CPU time to make the instance of a text once."""
    begin = thread_time_ns()
    analysis.instance_of(text)
    repeats = max(1, ROUND_NANOSECONDS // max(1, thread_time_ns() - begin))
    rounds = []
    for _ in range(ROUNDS):
        begin = thread_time_ns()
        for _ in range(repeats):
            analysis.instance_of(text)
        rounds.append((thread_time_ns() - begin) / repeats)
    return median(rounds)


def main() -> int:
    print(f"{'nanoseconds a character':<26}" + "".join(f"  {each}" for each in ANALYSES))
    for name, text in texts().items():
        times = [
            f"{nanoseconds(TextAnalysis.parse(each), text) / len(text):>{len(each) + 2}.1f}"
            for each in ANALYSES
        ]
        print(f"{name + f', {len(text):,}':<26}" + "".join(times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
