"""The results of ranking and learning."""

from collections.abc import Sequence
from typing import NamedTuple


class Node(NamedTuple):
    """A node on the path to a class, from the top down.

    In a label tree, `classes` is the number of classes below the node, and `probability` the
    probability of the node given its parent. `moved` lists (feature, change of the log-odds),
    largest first; `bias` is the change for every instance.

    For a learner with families, `name` is the class of the family, or the class itself at the end
    of the path. `score` is the family's part of the class's score, and `moved` lists (feature,
    contribution to that part).
    """

    classes: int
    probability: float
    bias: float
    moved: list[tuple[str, float]]
    name: str = ""
    score: float = 0.0


class ScoreOfParts(NamedTuple):
    """The part of words, of the description and of the vector in the score of a class, their sum.

    `words` is the learner's own part, by the features of the instance. `description` lists
    (feature, its part through the description of the class), largest first; `names` is their sum
    less the mean of all described classes.
    """

    words: float
    names: float
    vectors: float
    description: list[tuple[str, float]]


class MixtureWeights(NamedTuple):
    """The weights of words, descriptions and vectors in a score, each in spreads of its part."""

    words: float
    names: float
    vectors: float


class Learned(NamedTuple):
    """The instance's rank and scores before it was learned, and whether the learner was updated.

    `rank` is the rank of the best true class, 0 if it was not retrieved. `updated` is True if a
    margin required an update. `first` and `second` are the two highest scores that a ranking would
    have had just before, 0 for a missing class.
    """

    rank: int
    updated: bool
    first: float
    second: float


NOTHING_LEARNED = Learned(0, False, 0.0, 0.0)


class ShadowOutcome(NamedTuple):
    """The outcome of an event for a shadow; `rank` and `seconds` are as in Outcome."""

    label: str
    rank: int | None
    seconds: float


class Outcome(NamedTuple):
    """The result of applying an event.

    `rank` is the rank of the best true class before learning, None if it was not retrieved or
    nothing was learned. `updated` is True if a margin required an update. `seconds` is the time
    of learning, 0 without a clock. All three are about the primary learner, whose specification is
    `label`.
    """

    seq: int
    rank: int | None
    updated: bool
    label: str = ""
    shadows: tuple[ShadowOutcome, ...] = ()
    seconds: float = 0.0


class EventKey(NamedTuple):
    """The id of an event and the fingerprint of its content, by which a retry is recognised."""

    event_id: str | None
    fingerprint: int


class Answer(NamedTuple):
    """A ranking [(class, score)], best first, and the confidence in its first class.

    `confidence` is the probability, 0 to 1, that the first class is right; None for an empty
    ranking, before 100 outcomes, and for a ranking `among` given classes. `probabilities` has that
    of each class, if they were asked for.
    """

    ranked: list[tuple[str, float]]
    confidence: float | None
    probabilities: Sequence[float | None] = ()


class Decoded(NamedTuple):
    """A ranking [(class, score, expected taxonomic loss)], least loss first.

    `confidence` is the probability that the class of the highest score is right, as in Answer.
    """

    ranked: list[tuple[str, float, float]]
    confidence: float | None
