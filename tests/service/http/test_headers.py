import pytest

from manyclass.service.http.headers import headers_of
from manyclass.service.http.problems import Problem


def test_the_last_of_repeated_headers_counts():
    raw = [(b"accept", b"a"), (b"host", b"h"), (b"accept", b"b")]
    assert headers_of(raw) == {b"accept": b"b", b"host": b"h"}


@pytest.mark.parametrize(
    "name", [b"authorization", b"host", b"origin", b"sec-fetch-site", b"content-type"]
)
def test_a_repeated_header_that_decides_something_is_refused(name):
    assert headers_of([(name, b"a")]) == {name: b"a"}
    for second in (b"a", b"b"):
        with pytest.raises(Problem) as caught:
            headers_of([(name, b"a"), (b"accept", b""), (name, second)])
        assert caught.value.status == 400
        assert name.decode() in caught.value.detail
