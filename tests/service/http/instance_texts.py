"""Values of `text` in requests: some that native code reads, and some that it leaves."""
# ruff: noqa: RUF001 (letters of other scripts are meant)

PLAIN_TEXTS = [
    "The goalie saved it.",
    'Quotes " and \\ and / with\ttabs\nand lines\r\b\f',
    "Größe Straße ÉLAN e\u0301lan Ｎｏ５ ﬁn",
    "İstanbul co\u00adoperate zero\u200bwidth",
    "हिन्दी में पाठ தமிழ் বাংলা",
    "مُحَمَّد שָׁלוֹם",
    "今日の東京の天気を教えて สวัสดี ガイド",
    "👍🏽 great 👩‍💻 🇩🇪 😀",
    "\U0001d4d0\U0001d4d1 \U00020000",
    "\u0000 nul \u007f",
    "x" * 4096,
    "word " * 1000,
    {"title": "The goalie saved it."},
    {"title": "Ice hockey", "body": 'The goalie "saved" it 👍🏽.\n'},
    {"a title": "Größe", "a:b": "a b"},
    {"title": "", "body": "a"},
    {f"field {number}": "a" for number in range(16)},
    {"t" * 250: "a"},
]

OTHER_TEXTS = [
    "",
    "…",
    "y" * 4097,
    f"before {'ж' * 2049} behind",
    "\ud800",
    "a \udc00 b",
    "\udc00\ud800",
    7,
    None,
    ["a"],
    {},
    {"": "a"},
    {"title": 7},
    {"title": None},
    {"title": {"body": "a"}},
    {"t" * 251: "a"},
    {"t" * 4097: "a"},
    {'ti"tle': "a"},  # a name with an escape
    {"tïtle": "a"},
    {"title": "…"},
    {"title": "\ud800"},
    {f"field {number}": "a" for number in range(17)},
]
