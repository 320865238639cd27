"""The bodies of POST /rank."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from manyclass.core.event import Text
from manyclass.core.expected_loss import CANDIDATES
from manyclass.core.instance import LONGEST_NAME
from manyclass.core.text_fields import without_nulls
from manyclass.service.http.schemas.parts import (
    LARGEST_SEQ,
    Classes,
    Features,
    GivenText,
    Warnings,
)
from manyclass.service.ingest.stored_instance import Id

DEFAULT_RANKED = 5
MOST_RANKED = 1000
MOST_RANKED_AT_ONCE = 20_000  # instances of one request times k, or times classes given
MOST_EXPLAINED = 50  # k with `explain`
MOST_EXPLAINED_INSTANCES = 20  # of one request
MOST_DECODED = CANDIDATES  # k with `decode`
MOST_VOTES = 1000  # of one explained class
MOST_MOVES = 10  # features of a node on the path to it

_K = Meta(ge=1, le=MOST_RANKED)
_Seq = Meta(ge=0, le=LARGEST_SEQ)
_Source = Annotated[
    Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)] | None,
    Meta(
        description="Where the instance comes from: a user, a channel. `GET /review` lists"
        " instances by it. An event that labels the instance by its `id` has it, unless it has a"
        " `source` of its own."
    ),
]


class RankInstance(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An instance to rank: exactly one of `features` and `text`."""

    features: Features | UnsetType = UNSET
    given_text: GivenText | None = msgspec.field(name="text", default=None)
    id: Id | None = None
    source: _Source = None

    @property
    def text(self) -> Text | None:
        """The text, without fields that are null."""
        return None if self.given_text is None else without_nulls(self.given_text)


class RankRequest(RankInstance, forbid_unknown_fields=True, gc=False):
    """The body of /rank: one instance, or many as `instances`."""

    k: Annotated[int, _K] | Annotated[float, _K] | None = DEFAULT_RANKED
    threshold: Annotated[
        float | None,
        Meta(description="Return only scores above it; null: every class the learner retrieves."),
    ] = None
    among: Annotated[
        Classes | None,
        Meta(description="Rank only these classes; null: all classes."),
    ] = None
    min_confidence: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(description="Abstain from a ranking whose confidence is lower, or null."),
    ] = None
    decode: Annotated[
        Literal["taxo"] | None,
        Meta(
            description="`taxo`: order the classes by expected taxonomic loss, least first; null:"
            " by score."
        ),
    ] = None
    explain: bool | None = False
    min_seq: Annotated[int, _Seq] | Annotated[float, _Seq] | None = 0
    instances: list[RankInstance] | None = None

    @property
    def wanted(self) -> int | float:
        """The number of classes asked for."""
        return DEFAULT_RANKED if self.k is None else self.k


class Vote(msgspec.Struct, gc=False):
    """A feature that voted for a class, and its contribution; negative if it voted against it."""

    feature: str
    score: float


class PathNode(msgspec.Struct, gc=False):
    """A node on the path to a class in a label tree: the number of classes below it, its
    probability given its parent, and the contributions to it in log-odds, largest first, `bias`
    always among them."""

    classes: int
    probability: float
    bias: float
    features: list[Vote]


class FamilyScore(msgspec.Struct, gc=False):
    """A part of the score of a class: that of the weights which it shares with all below a class
    above it, or at last of its own; and the sum of the parts so far."""

    name: str = msgspec.field(name="class")
    score: float
    sum: float
    features: list[Vote]


class Ranked(msgspec.Struct, gc=False, omit_defaults=True):
    """A class with its score, which may be negative; with `decode`, the expected taxonomic loss of
    choosing it; with `explain`, the votes for it; in a label tree the path to it, and of a learner
    with families their parts of the score, from the top down."""

    name: str = msgspec.field(name="class")
    score: float
    expected_loss: float | UnsetType = UNSET
    features: list[Vote] | UnsetType = UNSET
    path: list[PathNode] | UnsetType = UNSET
    families: list[FamilyScore] | UnsetType = UNSET


_Confidence = Annotated[
    Annotated[float, Meta(ge=0, le=1)] | None,
    Meta(
        description="The probability that the first class by score is right, also with `decode`;"
        " null without a class, and until the primary learner has 100 outcomes.",
    ),
]
_Abstained = Annotated[
    bool | UnsetType,
    Meta(description="True if `min_confidence` is not reached; then `ranked` is empty."),
]


class RankAnswer(msgspec.Struct, gc=False):
    """The classes of one instance, best first, after learning the events up to number `seq`."""

    id: str
    seq: int
    ranked: list[Ranked]
    confidence: _Confidence
    abstained: _Abstained = UNSET
    warnings: Warnings = UNSET


class RankResult(msgspec.Struct, gc=False):
    """The classes of one instance of many."""

    id: str
    ranked: list[Ranked]
    confidence: _Confidence
    abstained: _Abstained = UNSET


class RankManyAnswer(msgspec.Struct, gc=False):
    """The results in the order of the instances, each after event `seq` or a later one."""

    seq: int
    results: list[RankResult]
    warnings: Warnings = UNSET
