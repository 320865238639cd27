import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from studies.weight_bounded import STREAMS, lead, update, update_of_many

weight = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.95, 0.02]), st.floats(0, 1))
value = st.one_of(st.just(0.0), st.floats(1e-3, 10))


@given(
    st.lists(st.tuples(weight, weight, value), min_size=1, max_size=12),
    st.floats(1.0, 8.0, exclude_min=True),
    st.booleans(),
)
@example([(1.0, 1.0, 1.0), (0.0, 1.0, 1.0), (0.0, 0.5, 1.0)], 1.5, True)  # one is full already
@example([(0.99, 1.0, 3.0), (0.0, 1.0, 3.0), (0.0, 0.0, 1.0)], 2.0, True)  # one is cut at 1
def test_an_update_comes_closer_to_every_separator(features, u, is_first):
    w, separator, x = (np.array(column) for column in zip(*features, strict=True))
    if not x.any():
        return
    x = x / np.linalg.norm(x)
    if lead(w, x, is_first) > 0:
        w = 1 - w  # the mirrored weights make the mistake
    if lead(separator, x, is_first) < 0:
        separator = 1 - separator
    beta = min(lead(separator, x, is_first) / u, 1.0)
    if beta < 1e-6:
        return
    u = lead(separator, x, is_first) / beta
    before = ((w - separator) ** 2).sum()
    assert update(w, x, is_first, beta)
    assert ((w >= 0) & (w <= 1)).all()
    assert before - ((w - separator) ** 2).sum() >= (u - 1) * beta**2 - 1e-12


def test_an_update_is_cut_at_the_bounds():
    w = np.array([0.95, 0.0])
    assert update(w, np.array([0.1, 0.99]), True, 1.0)
    assert w.tolist() == [1.0, 0.99]
    assert not update(w, np.array([0.1, 0.99]), True, 1.0)


@pytest.mark.parametrize("beta", [0.001, 0.05, 0.3])
def test_with_many_classes_an_update_may_lead_away(beta):
    """The paper's counterexample: c_1 leads by 0.7 with W*."""
    rest = 45
    separator = np.array([[0, 0.1, *[0.02] * rest], [0.9, 0.1, *[0] * rest]], float)
    w = np.array([[0.5, 0.5, *[0] * rest], [0, 0, 0.1, *[0] * (rest - 1)]], float)
    x = np.ones(2)
    assert np.allclose(separator.sum(1), 1)
    scores = x @ separator
    assert scores[0] - scores[1:].max() == pytest.approx(0.7)
    before = ((w - separator) ** 2).sum()
    assert update_of_many(w, x, 0, beta)
    assert ((w - separator) ** 2).sum() > before


@pytest.mark.parametrize("stream", [STREAMS[0], STREAMS[-1]], ids=lambda stream: stream.name)
def test_mistakes_are_within_the_bound(stream):
    found = stream.run(0)
    assert 0 < found["mistakes"] <= found["bound by u - 1"] <= found["bound by u - 2"]
    assert found["least gain / beta^2"] >= stream.u - 1 - 1e-9
