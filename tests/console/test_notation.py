"""Import guesses the encoding, the delimiter and the header of a file as the command line does."""

from base64 import b64encode

import pytest

from tests.training.tables.notations import CASES, CONSOLE

pytestmark = pytest.mark.slow  # needs chromium

GUESSED = """async content => {
    const bytes = Uint8Array.from(atob(content), sign => sign.charCodeAt(0));
    const { likelyEncoding } = await import("/console/encoding.js");
    const { likelyDelimiter } = await import("/console/csv_rows.js");
    const { openTable } = await import("/console/rows.js");
    const encoding = likelyEncoding(bytes);
    if (!encoding) return [encoding];
    const delimiter = likelyDelimiter(new TextDecoder(encoding).decode(bytes));
    const table = await openTable(new File([bytes], "a.csv")).catch(error => error.message);
    return [encoding, delimiter, table.hasHeader ?? table];
}"""


@pytest.mark.parametrize("kind", CASES)
def test_a_notation_is_guessed(untaught_page, kind):
    case = CASES[kind]
    found = untaught_page.evaluate(GUESSED, b64encode(case.content).decode())
    if case.encoding is None:
        assert found == [None]
        return
    header = "The file has no rows." if kind == "a first row alone" else case.header
    assert found == [CONSOLE[case.encoding], case.delimiter, header]
