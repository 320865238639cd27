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
    Vector,
    Warnings,
)
from manyclass.service.ingest.stored_instance import Id

DEFAULT_RANKED = 5
MOST_RANKED = 1000
MOST_RANKED_AT_ONCE = 20_000  # instances of one request times k, or times the classes in `among`
MOST_EXPLAINED = 50  # k with `explain`
MOST_EXPLAINED_INSTANCES = 20  # of one request
MOST_DECODED = CANDIDATES  # k with `decode`
MOST_VOTES = 1000  # of one explained class
MOST_MOVES = 10  # features of a node on the path to an explained class

_K = Meta(ge=1, le=MOST_RANKED)
_Share = Annotated[float, Meta(ge=0, le=1)]
_Seq = Meta(ge=0, le=LARGEST_SEQ)
_Source = Annotated[
    Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)] | None,
    Meta(
        description="The origin of the instance: a user, a channel. `GET /review` lists instances"
        " by it. An event that labels the instance by its `id` inherits it, unless it has a"
        " `source` of its own."
    ),
]


class RankInstance(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An instance to rank: `features` or `text`, a `vector`, or both."""

    features: Features | UnsetType = UNSET
    given_text: GivenText | None = msgspec.field(name="text", default=None)
    vector: Vector | UnsetType = UNSET
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
        Meta(description="Return only classes with a higher score; null: all retrieved classes."),
    ] = None
    among: Annotated[
        Classes | None,
        Meta(description="Rank only these classes; null: all classes."),
    ] = None
    min_confidence: Annotated[
        _Share | None,
        Meta(description="Abstain if the confidence is lower or unknown; null: never abstain."),
    ] = None
    min_accuracy: Annotated[
        _Share | None,
        Meta(
            description="Abstain below the least limit of confidence whose answers were right at"
            " least this often; null: any."
        ),
    ] = None
    probabilities: Annotated[
        bool | None, Meta(description="Add to each class the probability that it is right.")
    ] = False
    min_probability: Annotated[
        _Share | None,
        Meta(
            description="Return only classes with a probability from this on, and abstain without"
            " one; null: any."
        ),
    ] = None
    min_precision: Annotated[
        _Share | None,
        Meta(
            description="Return only classes from the least limit of probability on above which"
            " classes were right at least this often; null: any."
        ),
    ] = None
    decode: Annotated[
        Literal["taxo"] | None,
        Meta(
            description="`taxo`: order the classes by expected taxonomic loss, least first; null:"
            " order them by score."
        ),
    ] = None
    explain: bool | None = False
    min_seq: Annotated[int, _Seq] | Annotated[float, _Seq] | None = 0
    keep: Annotated[
        bool | None,
        Meta(
            description="False: keep neither the instance nor its text; no label can refer to it by"
            " `id`, and it does not wait for review."
        ),
    ] = True
    instances: list[RankInstance] | None = None

    @property
    def wanted(self) -> int | float:
        """The number of classes to return."""
        return DEFAULT_RANKED if self.k is None else self.k

    @property
    def is_kept(self) -> bool:
        """True if the instances wait for their labels."""
        return self.keep is not False

    @property
    def gives_probabilities(self) -> bool:
        """True if each class of the answer has its probability."""
        limits = self.min_probability, self.min_precision
        return bool(self.probabilities) or any(each is not None for each in limits)


class Vote(msgspec.Struct, gc=False):
    """A feature and its contribution to the score of a class, negative if it voted against it."""

    feature: str
    score: float


class PathNode(msgspec.Struct, gc=False):
    """A node on the path to a class in a label tree: the number of classes below the node, its
    probability given its parent, and its bias and the largest contributions of features, in
    log-odds."""

    classes: int
    probability: float
    bias: float
    features: list[Vote]


class FamilyScore(msgspec.Struct, gc=False):
    """A part of the score of a class, and the sum of the parts so far. The part comes from weights
    that the class shares with all classes below `class` in the taxonomy; the last part comes from
    its own weights."""

    name: str = msgspec.field(name="class")
    score: float
    sum: float
    features: list[Vote]


class ScoreParts(msgspec.Struct, gc=False):
    """The parts of a score, their sum: by the features and the learner's weights, by the
    description of the class, and by the vector."""

    words: float
    description: float
    vector: float


class NearEvent(msgspec.Struct, gc=False):
    """The number of a learned event, and the cosine of its vector and that of the instance."""

    seq: int
    similarity: float


class Ranked(msgspec.Struct, gc=False, omit_defaults=True):
    """A class with its score, which may be negative; with `decode`, the expected taxonomic loss of
    choosing it; with `probabilities`, the probability that it is right, null until the learner has
    100 outcomes at its place; with `explain`, the votes for it, in a label tree the path to it, and
    with a learner of class families the parts of its score, from the top of the taxonomy down."""

    name: str = msgspec.field(name="class")
    score: float
    expected_loss: float | UnsetType = UNSET
    title: Annotated[str | UnsetType, Meta(description="The name of the class for people.")] = UNSET
    probability: float | UnsetType | None = UNSET
    features: list[Vote] | UnsetType = UNSET
    path: list[PathNode] | UnsetType = UNSET
    families: list[FamilyScore] | UnsetType = UNSET
    parts: ScoreParts | UnsetType = UNSET
    description: Annotated[
        list[Vote] | UnsetType, Meta(description="The votes through the description of the class.")
    ] = UNSET
    nearest: Annotated[
        list[NearEvent] | UnsetType,
        Meta(description="The nearest learned events of the class by their vectors, at most 3."),
    ] = UNSET


_AnswerId = Annotated[
    str | UnsetType,
    Meta(
        description="The `id` of the request, or else a new one, by which a label can refer to the"
        " instance; absent if the request has none and `keep` is false."
    ),
]
_Confidence = Annotated[
    _Share | None,
    Meta(
        description="The probability that the class with the highest score is right, also with"
        " `decode`; null without a class, and until the primary learner has 100 outcomes.",
    ),
]
_Limit = Annotated[
    _Share | UnsetType | None,
    Meta(
        description="With `min_accuracy`, the limit of confidence that was applied; with"
        " `min_precision`, that of probability; null if no limit reaches what was asked yet."
    ),
]
_Abstained = Annotated[
    bool | UnsetType,
    Meta(
        description="True if the service abstained by `min_confidence` or `min_accuracy`, or if no"
        " class has the `min_probability` or that of `min_precision`; then `ranked` is empty."
    ),
]


class RankAnswer(msgspec.Struct, gc=False, kw_only=True):
    """The classes of one instance, best first, after learning the events up to number `seq`."""

    id: _AnswerId = UNSET
    seq: int
    ranked: list[Ranked]
    confidence: _Confidence
    limit: _Limit = UNSET
    abstained: _Abstained = UNSET
    warnings: Warnings = UNSET


class RankResult(msgspec.Struct, gc=False, kw_only=True):
    """The classes of one instance of many."""

    id: _AnswerId = UNSET
    ranked: list[Ranked]
    confidence: _Confidence
    limit: _Limit = UNSET
    abstained: _Abstained = UNSET


class RankManyAnswer(msgspec.Struct, gc=False):
    """The results in the order of the instances, each from a state at event `seq` or later."""

    seq: int
    results: list[RankResult]
    warnings: Warnings = UNSET
