"""Comparison of the native analysis of texts with its reference, and texts for it."""

import random

from manyclass.core.text import TextAnalysis
from tests.core.references import text as reference

ANALYSES = [
    TextAnalysis(*map(bool, (number & 1, number & 2, number & 4, number & 8)))
    for number in range(16)
]
LIVELY = "aBéi İI\u0307\u0301\u0323ß_9.+#c ~<=>\u0338\n日ガｶﾞกิก가\u1100\u1161\u11a8हिन्दी\u0651\u064e"
EMOJI = "👩👍🏽🏿\u200d\ufe0f❤🔥🇩🇪🏳1\u20e3©\u00ad🅰"


def assert_equal(analysis, text, most=2**32 - 1):
    """Compare the native features of a text, or of fields, with those of the reference."""
    found, wanted = (
        analysis.instance_of(text, most),
        reference.features_of(analysis, text, most),
    )
    assert found.instance.items() == [*wanted.values().items()], ascii(text)
    assert (found.long_words, found.truncated) == (wanted.long_words, wanted.truncated)


def random_texts(count, seed):
    """Yield texts of code points of all planes, of blocks and of characters that affect others."""
    drawn = random.Random(seed)
    for _ in range(count):
        length = drawn.randrange(1, 12)
        match drawn.randrange(4):
            case 0:
                codes = [drawn.randrange(0x110000) for _ in range(length)]
            case 1:
                block = drawn.randrange(0x2000) * 16
                codes = [block + drawn.randrange(64) for _ in range(length)]
            case 2:
                codes = [drawn.randrange(0x3000) for _ in range(length)]
            case _:
                codes = [ord(drawn.choice(LIVELY + EMOJI)) for _ in range(length)]
        yield "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
