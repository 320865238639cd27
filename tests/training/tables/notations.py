"""Beginnings of tables, and how the command line and the console both read them.

Each has its bytes, its encoding (as Python names it; None: it is not clear), its delimiter, and
whether its first row is a header.
"""

from typing import NamedTuple

CONSOLE = {  # names of encodings there
    "utf-8-sig": "utf-8",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
    "cp1252": "windows-1252",
}
BANK = [  # without a header
    ["Where is my card, please?", "card_arrival"],
    ["How do I top up?", "top_up"],
    ["My card is lost.", "lost_card"],
    ["I am still waiting on my card?", "card_arrival"],
]


class Case(NamedTuple):
    content: bytes
    encoding: str | None
    delimiter: str = ","
    header: bool = True


def csv(*rows, delimiter=",", encoding="utf-8"):
    """Return rows as CSV, each cell in quotes that needs them."""

    def cell(text):
        needs = any(sign in text for sign in (delimiter, '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if needs else text

    return "".join(delimiter.join(map(cell, row)) + "\r\n" for row in rows).encode(encoding)


def words(text, encoding):
    """Return a table with a text of an encoding."""
    return csv(["text", "label"], [text, "a"], ["plain", "b"], encoding=encoding)


UTF8 = "utf-8-sig"
CASES = {
    # encodings
    "ASCII": Case(words("plain", "ascii"), UTF8),
    "UTF-8": Case(words("schöne Grüße", "utf-8"), UTF8),
    "UTF-8 with a mark": Case(words("schöne Grüße", "utf-8-sig"), UTF8),
    "UTF-8 cut in a letter": Case(b"text,label\na,b\nc,caf\xc3", UTF8),
    "UTF-8 with a wrong byte": Case("text,label\nthé,x\nà la,y\n".encode() + b"caf\xe9,z\n", UTF8),
    "UTF-16 LE": Case(words("schöne Grüße", "utf-16-le"), "utf-16-le"),
    "UTF-16 BE": Case(words("schöne Grüße", "utf-16-be"), "utf-16-be"),
    "UTF-16 LE of Russian": Case(words("привет мир", "utf-16-le"), "utf-16-le"),
    "Windows in German": Case(words("Straße gesperrt, Müll", "cp1252"), "cp1252"),
    "Windows in French": Case(words("l\u2019été, cœur «brisé» à 5 €", "cp1252"), "cp1252"),
    "Windows in Spanish": Case(words("¿Dónde está la niña? 3ª planta", "cp1252"), "cp1252"),
    "Windows in Polish": Case(words("zażółć gęślą jaźń", "cp1250"), None),
    "Windows in Czech": Case(words("příliš žluťoučký kůň", "cp1250"), None),
    "Windows in Turkish": Case(words("güneşli ağaç, şu köy", "cp1254"), None),
    "Windows in Russian": Case(words("привет мир", "cp1251"), None),
    "Windows in Greek": Case(words("καλημέρα κόσμε", "cp1253"), None),
    "Shift JIS": Case(words("日本語のテキスト", "shift_jis"), None),
    "GB 18030": Case(words("中文文本", "gb18030"), None),
    # delimiters
    "semicolon": Case(csv(["text", "label"], ["1,5", "a"], ["2,5", "b"], delimiter=";"), UTF8, ";"),
    "tab": Case(csv(["text", "label"], ["a;b", "c"], ["d", "e"], delimiter="\t"), UTF8, "\t"),
    "bar": Case(csv(["text", "label"], ["a;b, c", "c"], ["d", "e"], delimiter="|"), UTF8, "|"),
    "line ends in quotes": Case(
        csv(["text", "label"], ["a;\n,b\n,c", "x"], ["d", "y"], delimiter=";"), UTF8, ";"
    ),
    "delimiters in quotes": Case(
        csv(["text", "label"], ["a;b;c", "x"], ["d;e;f", "y"], delimiter=","), UTF8, ","
    ),
    "a title": Case(
        b"Export of May\r\n" + csv(["text", "label"], ["a", "b"], delimiter=";"), UTF8, ";"
    ),
    "one column": Case(b"text\r\nhello\r\nhi, there\r\nhow\r\n", UTF8),
    # headers
    "years over numbers": Case(csv(["2024", "2023"], ["7", "8"], ["9", "10"]), UTF8, header=False),
    "years over texts": Case(csv(["2024", "2023"], ["a text", "x"], ["b text", "y"]), UTF8),
    "texts and labels": Case(csv(*BANK), UTF8, header=False),
    "texts and other labels": Case(csv(*BANK[:3]), UTF8, header=False),
    "texts and labels below names": Case(csv(["Anliegen", "Sparte"], *BANK), UTF8),
    "texts and labels below questions": Case(
        csv(
            ["What does the customer want from us, in his own words and in one sentence?", "kind"],
            *BANK,
        ),
        UTF8,
    ),
    "a known name": Case(csv(["sentence", "kind"], ["a b", "c"], ["d e", "f"]), UTF8),
    "a known name as a label": Case(
        csv(["who is it", "question"], ["it is me", "answer"], ["who are you", "question"]),
        UTF8,
        header=False,
    ),
    "numbers and codes": Case(
        csv(["1", "a long text", "2136"], ["2", "b text", "2137"]), UTF8, header=False
    ),
    "names over numbers": Case(csv(["Nummer", "Was", "Sparte"], ["1", "a b c", "2136"]), UTF8),
    "dates": Case(
        csv(["01.05.2024", "a text of it"], ["02.05.2024", "another text"]), UTF8, header=False
    ),
    "names over codes": Case(
        csv(["Satz", "gnd"], ["a b", "4011455-7"], ["c d", "4011456-9"]), UTF8
    ),
    "joined files": Case(csv(["Was", "Sparte"], ["ab", "c"], ["Was", "Sparte"], ["de", "f"]), UTF8),
    "words without a hint": Case(csv(["Wort", "Art"], ["Hund", "Tier"], ["Rose", "Blume"]), UTF8),
    "a first row alone": Case(csv(["a b c d", "e"]), UTF8),
}
