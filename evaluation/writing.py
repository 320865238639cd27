"""How figures are written in tables and plots."""

from manyclass.evaluation.comparison import Spread


def shown(spread: Spread) -> str:
    """`0.865 ± 0.005`, or without the deviation where there is none."""
    text = f"{spread.mean:.3f}"
    return text if spread.deviation is None else f"{text} ± {spread.deviation:.3f}"


def short(figure: float) -> str:
    """A figure in three digits: 0.0952, 12.8, 4.31k, 171k, 4.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(figure) >= size * 0.9995:  # what would be rounded to it is written so too
            return f"{figure / size:.3g}{letter}"
    return f"{figure:.3g}"
