import pytest

from manyclass.training.formats import reader_of
from manyclass.training.formats.given import Given
from manyclass.training.lines import Line


@pytest.fixture
def read():
    """`read("vw", b"...")`: what each line holds, (features, classes), or why it is rejected."""

    def held(format, data):
        lines = (
            Line("f", number, line)
            for number, line in enumerate(data.split(b"\n"), 1)
            if line and not line.isspace()
        )
        return [
            (each.features if each.text is None else each.text, each.classes)
            if isinstance(each, Given)
            else each.reason
            for each in reader_of(format)(lines)
        ]

    return held
