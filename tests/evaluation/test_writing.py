import pytest

from manyclass.evaluation.comparison import Spread
from manyclass.evaluation.writing import short, shown


def test_a_spread_is_written_with_its_deviation_where_there_is_one():
    assert shown(Spread(0.86543, 0.0049)) == "0.865 ± 0.005"
    assert shown(Spread(1.0, None)) == "1.000"


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (0, "0"),
        (0.095213, "0.0952"),
        (12.84, "12.8"),
        (999.4, "999"),
        (999.9, "1k"),
        (4310, "4.31k"),
        (171_234, "171k"),
        (999_999, "1M"),
        (4_500_000, "4.5M"),
        (2.5e9, "2.5G"),
        (-2000, "-2k"),
    ],
)
def test_costs_are_written_in_three_digits(figure, text):
    assert short(figure) == text
