"""The number of examples that Hypothesis draws: all of a test, or the share of a quick run."""

from hypothesis import settings


def examples(count, **more):
    """Return settings with the percentage of `count` that is the profile's number of examples."""
    share = settings.default.max_examples / 100
    return settings(max_examples=max(1, round(count * share)), **more)
