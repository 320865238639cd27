"""Texts of many scripts with their words: data of a test, and of a page."""
# ruff: noqa: RUF001 (letters of many scripts are meant)

from typing import NamedTuple


class Example(NamedTuple):
    """A text, and its words in order."""

    script: str
    text: str
    words: tuple[str, ...]


EXAMPLES = (
    Example("Latin", "Crème brûlée, naïve Œuvre", ("crème", "brûlée", "naïve", "œuvre")),
    Example("German", "Straße der Größe: ÜBUNG", ("strasse", "der", "grösse", "übung")),
    Example("Polish", "Łódź i Żółć", ("łódź", "i", "żółć")),
    Example("Turkish", "İstanbul’da IŞIK ılık", ("istanbul", "da", "işik", "ılık")),
    Example("Vietnamese", "Tiếng Việt, e\u0302\u0301", ("tiếng", "việt", "ế")),
    Example("Greek", "Καλημέρα κόσμε, ΟΔΟΣ", ("καλημέρα", "κόσμε", "οδοσ")),
    Example("Cyrillic", "Съешь ещё этих ЙОД", ("съешь", "ещё", "этих", "йод")),
    Example("Georgian", "საქართველო ᲗᲑᲘᲚᲘᲡᲘ", ("საქართველო", "თბილისი")),
    Example("Armenian", "Բարեւ աշխարհ և", ("բարեւ", "աշխարհ", "եւ")),
    Example("Hebrew", "שָׁלוֹם עולם", ("שָׁלוֹם", "עולם")),
    Example("Arabic", "مُحَمَّد كتاب ﷺ", ("مُحَمَّد", "كتاب", "صلى", "الله", "عليه", "وسلم")),
    Example("Persian", "می\u200cخواهم کتاب\u200cها ۱۲", ("میخواهم", "کتابها", "۱۲")),
    Example("Devanagari", "हिन्दी भाषा क़लम १२", ("हिन्दी", "भाषा", "क़लम", "१२")),
    Example("Bengali", "বাংলা ভাষা", ("বাংলা", "ভাষা")),
    Example("Gurmukhi", "ਪੰਜਾਬੀ ਬੋਲੀ", ("ਪੰਜਾਬੀ", "ਬੋਲੀ")),
    Example("Gujarati", "ગુજરાતી ભાષા", ("ગુજરાતી", "ભાષા")),
    Example("Oriya", "ଓଡ଼ିଆ ଭାଷା", ("ଓଡ଼ିଆ", "ଭାଷା")),
    Example("Tamil", "தமிழ் மொழி", ("தமிழ்", "மொழி")),
    Example("Telugu", "తెలుగు భాష", ("తెలుగు", "భాష")),
    Example("Kannada", "ಕನ್ನಡ ಭಾಷೆ", ("ಕನ್ನಡ", "ಭಾಷೆ")),
    Example("Malayalam", "മലയാളം ഭാഷ", ("മലയാളം", "ഭാഷ")),
    Example("Sinhala", "සිංහල ශ්\u200dරී", ("සිංහල", "ශ්රී")),
    Example("Thai", "น้ำใส 12", ("น้ํ", "า", "ใ", "ส", "12")),
    Example("Lao", "ພາສາລາວ", ("ພ", "າ", "ສ", "າ", "ລ", "າ", "ວ")),
    Example("Khmer", "ខ្មែរ", ("ខ្", "មែ", "រ")),
    Example("Myanmar", "မြန်မာ", ("မြ", "န်", "မာ")),
    Example("Tibetan", "བོད་སྐད།", ("བོད", "སྐད")),
    Example("Ethiopic", "ሰላም፡ለዓለም፡አማርኛ", ("ሰላም", "ለዓለም", "አማርኛ")),
    Example("Cherokee", "ᏣᎳᎩ ꮳꮃꭹ", ("ᏣᎳᎩ", "ᏣᎳᎩ")),
    Example("Mongolian", "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ", ("ᠮᠣᠩᠭᠣᠯ", "ᠪᠢᠴᠢᠭ")),
    Example("Han", "東京都、北京", ("東", "京", "都", "北", "京")),
    Example(
        "Kana",
        "カタカナ ｶﾞｲﾄﾞ ひらがな",
        ("カ", "タ", "カ", "ナ", "ガ", "イ", "ド", "ひ", "ら", "が", "な"),
    ),
    Example("Hangul", "한국어 \u1112\u1161\u11ab글", ("한국어", "한글")),
    Example("Bopomofo", "ㄅㄆㄇ", ("ㄅ", "ㄆ", "ㄇ")),
    Example("Full-width", "ＡＢＣ\u3000１２３", ("abc", "123")),
    Example("Adlam", "𞤀𞤁𞤂 𞤢𞤣𞤤", ("𞤢𞤣𞤤", "𞤢𞤣𞤤")),
    Example(
        "Emoji", "👍🏽 ❤\ufe0f\u200d🔥 👩\u200d💻 🇩🇪 1\ufe0f⃣", ("👍", "❤🔥", "👩💻", "🇩🇪", "1⃣")
    ),
    Example(
        "Invisible",
        "co\u00adoperate zero\u200bwidth \ufeffword",
        ("cooperate", "zerowidth", "word"),
    ),
)
