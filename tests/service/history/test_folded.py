"""A search folds texts and words alike, so that no event that matches is passed over."""

from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.event import Event
from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.history.folded import folded
from manyclass.service.history.reader import Filter, Record, Sieve

FOLDED = "äÄßéÉ\u0130\u0131\u017f\u212a\u212bがｶﾞ각"
TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(FOLDED)), min_size=1
)


def test_case_accents_and_widths_do_not_count():
    for one, other in (
        ("STRASSE", "Straße"),
        ("Muller", "MÜLLER"),
        ("jose", "Jose\u0301"),
        ("abc", "\uff21\uff22\uff23"),
        ("بطاقة", "بِطَاقَة"),
        ("ελλαδα", "ΕΛΛΆΔΑ"),
    ):
        assert folded(one) == folded(other)
    for one, other in (("कार्ड", "करड"), ("o", "ø"), ("u", "v")):
        assert folded(one) != folded(other)


@given(TEXTS, TEXTS, st.data())
def test_the_bytes_of_an_event_pass_for_every_part_of_its_text(text, source, data):
    read = DEFAULT_TEXT.instance_of(text, 1000)
    event = Event.learn(read.instance, ["x"], source=source, text=text, reading=read.reading)
    begin = data.draw(st.integers(0, len(text) - 1))
    part = text[begin : data.draw(st.integers(begin + 1, len(text)))]
    words = tuple(folded(part).split())
    record = Record(1, event, 0, ["x"], [], None, False, 0, False)
    if Filter(words=words).matches(record):
        assert Sieve(Filter(words=words), {}).passes(bytes(event), 0, False)
