"""The bodies of requests and answers. msgspec reads and writes those of /rank and /learn, which are
hot; pydantic writes the others, as FastAPI has it."""

from collections.abc import Generator, Sequence
from typing import Annotated, TypeVar, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.core.errors import InstanceError
from manyclass.core.event import Instance
from manyclass.core.model_set import Role
from manyclass.core.outline import count_members
from manyclass.core.text import (
    features_of,
    has_more_features,
    most_words,
    with_pairs,
    words_by_slice,
)
from manyclass.service.http.mismatch import mismatch
from manyclass.service.http.problems import FaultDocument, Place, Problem, invalid, pointer

DEFAULT_RANKED = 5
MOST_RANKED = 1000
MOST_RANKED_AT_ONCE = 20_000  # instances times k of one request
MOST_EXPLAINED = 50  # k with `explain`
MOST_EXPLAINED_INSTANCES = 20  # of one request
MOST_VOTES = 1000  # of one explained class
MOST_MOVES = 10  # features of a node on the path to it
MOST_CLASSES = 1000  # true classes of one event
MOST_PAIRS = 200_000  # features times classes of one event: an edge each, learned at one stretch
LONGEST_ID = 200

LARGEST_SEQ = 2**63 - 1

# JSON has one kind of number: 5.0 is the integer 5, so it is read as float where that may come.
Names = list[str | int | float]
Features = msgspec.Raw  # manyclass.core.event reads it
Text = Annotated[
    str,
    Meta(
        description="Its lower-cased words and pairs of neighbouring words are the features.",
        examples=["The goalie saved it."],
    ),
]
_K = Meta(ge=1, le=MOST_RANKED)
_Seq = Meta(ge=0, le=LARGEST_SEQ)
Id = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID)]
Classes = Annotated[Names, Meta(min_length=1, max_length=MOST_CLASSES)]


class RankInstance(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An instance to rank: exactly one of `features` and `text`."""

    features: Features | UnsetType = UNSET
    text: Text | UnsetType = UNSET
    id: Id | UnsetType = UNSET


class RankRequest(RankInstance, forbid_unknown_fields=True, gc=False):
    """The body of /rank: one instance, or many as `instances`."""

    k: Annotated[int, _K] | Annotated[float, _K] = DEFAULT_RANKED
    threshold: Annotated[
        float | None,
        Meta(description="Only scores above it are answered; else whatever the learner retrieves."),
    ] = None
    min_confidence: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(description="A ranking whose confidence is below it, or null, is withheld."),
    ] = None
    explain: bool = False
    min_seq: Annotated[int, _Seq] | Annotated[float, _Seq] = 0
    instances: list[RankInstance] | UnsetType = UNSET


class LearnEvent(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What to learn: exactly one of `features`, `text` and `id`, and its true classes."""

    classes: Classes
    features: Features | UnsetType = UNSET
    text: Text | UnsetType = UNSET
    id: Id | UnsetType = UNSET
    event_id: Id | UnsetType = UNSET


class LearnRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body of /learn: one event, or many as `events`."""

    classes: Classes | UnsetType = UNSET
    features: Features | UnsetType = UNSET
    text: Text | UnsetType = UNSET
    id: Id | UnsetType = UNSET
    event_id: Id | UnsetType = UNSET
    events: list[LearnEvent] | UnsetType = UNSET


class Vote(msgspec.Struct, gc=False):
    """A feature that voted for a class, and what it gave; less than 0 if it voted against it."""

    feature: str
    score: float


class PathNode(msgspec.Struct, gc=False):
    """A node on the path to a class in a label tree: how many classes it holds, its probability
    given the node above it, and what moved that, in log-odds, most first; `bias` always does."""

    classes: int
    probability: float
    bias: float
    features: list[Vote]


class Ranked(msgspec.Struct, gc=False, omit_defaults=True):
    """A class with its score, which may be negative; why, when asked to explain, and of a label
    tree the path to it."""

    name: str = msgspec.field(name="class")
    score: float
    features: list[Vote] | UnsetType = UNSET
    path: list[PathNode] | UnsetType = UNSET


_Confidence = Annotated[
    Annotated[float, Meta(ge=0, le=1)] | None,
    Meta(
        description="The probability that the first class is right; null without a class, and while"
        " the learner that answers has seen fewer than 100 outcomes.",
    ),
]
_Withheld = Annotated[
    bool | UnsetType,
    Meta(description="True, and nothing is ranked, when `min_confidence` is not reached."),
]


class WarningDocument(msgspec.Struct, gc=False):
    """Something in a request that was answered and is hardly meant, at a JSON pointer into it."""

    detail: str
    pointer: str


_Warnings = Annotated[
    list[WarningDocument] | UnsetType,
    Meta(
        description="Instances without features: texts without words, and `features` without a"
        " value above 0. Absent when every instance has one."
    ),
]


class RankAnswer(msgspec.Struct, gc=False):
    """The classes of one instance, best first. `seq` numbers the last event the answer has seen."""

    id: str
    seq: int
    ranked: list[Ranked]
    confidence: _Confidence
    withheld: _Withheld = UNSET
    warnings: _Warnings = UNSET


class RankResult(msgspec.Struct, gc=False):
    """The classes of one instance of many."""

    id: str
    ranked: list[Ranked]
    confidence: _Confidence
    withheld: _Withheld = UNSET


class RankManyAnswer(msgspec.Struct, gc=False):
    """The results, in the order of the instances. Each has seen event `seq`, perhaps later ones."""

    seq: int
    results: list[RankResult]
    warnings: _Warnings = UNSET


class LearnAnswer(msgspec.Struct, gc=False):
    """`rank`: where the best true class stood before learning; null when it was not retrieved.

    An event without features makes no new class, unless the learner is `frequency`.
    """

    seq: int
    accepted: int
    duplicates: int
    rank: int | None
    updated: bool
    warnings: _Warnings = UNSET


class LearnManyAnswer(msgspec.Struct, gc=False):
    """`ranks`: for each event as `rank` of one; null for a duplicate too."""

    seq: int
    accepted: int
    duplicates: int
    ranks: list[int | None]
    warnings: _Warnings = UNSET


class Progress(msgspec.Struct, gc=False, tag="progress", tag_field="kind"):
    """How far a stream has come. `r1`, `r5`: recall at 1 and 5 over its accepted events so far."""

    lines: int
    accepted: int
    duplicates: int
    rejected: int
    seq: int
    r1: float | None
    r5: float | None


class Summary(Progress, gc=False, tag="summary", tag_field="kind"):
    """The last line of a stream that came to its end."""


class StreamFault(msgspec.Struct, gc=False, tag="fault", tag_field="kind"):
    """A line that was skipped, and why."""

    line: int
    status: int
    detail: str
    errors: list[FaultDocument] = []


class StreamWarning(msgspec.Struct, gc=False, tag="warning", tag_field="kind"):
    """A line that was taken, and whose instance has no features: it makes no new class."""

    line: int
    detail: str
    pointer: str


class StreamFailure(Progress, gc=False, tag="failure", tag_field="kind"):
    """The last line of a stream that ended early: lines up to `learned_up_to_line` are settled."""

    status: int
    detail: str
    learned_up_to_line: int


_features = msgspec.json.Decoder(dict[str, float] | Names)

Body = TypeVar("Body")


def decode(
    decoder: msgspec.json.Decoder[Body],
    body: bytes | memoryview | msgspec.Raw,
    within: Place = (),
) -> Body:
    """Return the body, or the part of it at `within`, as its type.

    Raises Problem for another type, and msgspec's error for what is not JSON.
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise mismatch(error, decoder.type, within) from error
    except UnicodeDecodeError as error:
        raise Problem(400, f"The body is not UTF-8: {error.reason}.") from error
    except RecursionError as error:
        raise Problem(400, "The body is nested too deeply.") from error


def check_many(
    request: RankRequest | LearnRequest,
    each: type[RankInstance] | type[LearnEvent],
    place: str,
    forms: Sequence[object],
    most: int,
    wanted: str,
) -> None:
    """Raise Problem unless the forms at `place` are 1 to `most`, and alone say what they say."""
    for name in each.__struct_fields__:
        if getattr(request, name) is not UNSET:
            raise invalid(f"`{name}` belongs into each of `{place}`.", name)
    if not forms:
        raise invalid(f"There is no {wanted}.", place)
    if len(forms) > most:
        raise too_many(place, most)


def too_many(place: str, most: int) -> Problem:
    """Return the refusal of a list of more than `most` instances or events."""
    return invalid(f"A request has at most {most} {place}.", place, most)


def instance_of(form: RankInstance | LearnEvent | LearnRequest, most_features: int) -> Instance:
    """The instance a body describes by exactly one of `features` and `text`."""
    features, text = form.features, form.text
    if features is UNSET:
        if text is UNSET:
            raise invalid("An instance needs `features` or `text`.")
        return _instance_of_text(text, most_features)
    if text is not UNSET:
        raise invalid("An instance has either `features` or `text`, not both.", "text")
    instance = Instance.from_json(features, most_features)
    return _instance_of_json(features, most_features) if instance is None else instance


def warning_of(
    form: RankInstance | LearnEvent | LearnRequest, *place: str | int
) -> WarningDocument:
    """Return the warning that the instance of a form has no features."""
    if form.text is not UNSET:
        member, detail = "text", "The text has no words."
    elif form.features is not UNSET:
        member, detail = "features", "No feature has a value above 0."
    else:
        member, detail = "id", "The instance of this id has no features."
    return WarningDocument(detail, pointer((*place, member)))


def _instance_of_json(data: msgspec.Raw, most_features: int) -> Instance:
    """The same for features that are not plain, and the one to say what is wrong with them."""
    if count_members(data, most_features) > most_features:  # before an object is made of each
        raise invalid(f"An instance has at most {most_features} features.", "features")
    features = decode(_features, data, ("features",))
    if isinstance(features, dict):
        return Instance(features)
    return _instance_of_names(names_of(features, "features"))


def _instance_of_names(names: list[str | int]) -> Instance:
    try:
        return Instance(names)
    except InstanceError as error:
        position = [*map(str, names)].index(str(error.where[-1]))
        raise invalid(str(error), "features", position) from error


def names_of(given: Names, place: str) -> list[str | int]:
    """The names a body gives as an array; 5.0 is the integer 5, another float is no name."""
    if float not in map(type, given):
        return cast(list[str | int], given)  # what else could it hold
    names: list[str | int] = []
    for position, name in enumerate(given):
        if isinstance(name, float):
            names.append(whole(name, place, position))
        else:
            names.append(name)
    return names


def whole(number: float, *place: str | int) -> int:
    """The integer a number of a body is; a Problem when it is none."""
    if not number.is_integer():
        raise invalid("Expected an integer.", *place)
    return int(number)


def _instance_of_text(text: str, most_features: int) -> Instance:
    if has_more_features(text, most_features):
        raise invalid(f"An instance has at most {most_features} features.", "text")
    return _instance_of_words(features_of(text))


def instance_of_long_text(text: str, most_features: int) -> Generator[None, None, Instance]:
    """Return the instance of a text of any length; yield after each slice of it."""
    words: list[str] = []
    for found in words_by_slice(text):
        words += found
        if len(words) > most_words(most_features):
            raise invalid(f"An instance has at most {most_features} features.", "text")
        yield
    return _instance_of_words(with_pairs(words))


def _instance_of_words(features: list[str]) -> Instance:
    try:
        return Instance(features)
    except InstanceError as error:
        raise invalid(str(error), "text") from error


# --- answers of the other routes -----------------------------------------------------------------

# Maps with a name, so that they are components of the document: generated clients name them too.
LearnerOptions = TypeAliasType("LearnerOptions", dict[str, bool | int | float | str])
SettingTexts = TypeAliasType("SettingTexts", dict[str, str])
RefusedSnapshots = TypeAliasType("RefusedSnapshots", dict[str, str])


class ClassCount(BaseModel):
    """A class and how many events named it."""

    name: str = Field(serialization_alias="class")
    learned: int


class ClassPage(BaseModel):
    """Classes in the order of their names' UTF-8 bytes. Pass `next` as `after` for more."""

    classes: list[ClassCount]
    next: str | None


class FeatureWeight(BaseModel):
    """A feature and the weight of its edge to the class."""

    feature: str
    weight: float


class ClassDetail(BaseModel):
    """A class, and the features with an edge to it, heaviest first."""

    name: str = Field(serialization_alias="class")
    learned: int
    features: list[FeatureWeight]


class ClassWeight(BaseModel):
    """A class and the weight of the feature's edge to it."""

    name: str = Field(serialization_alias="class")
    weight: float


class FeatureDetail(BaseModel):
    """A feature and its edges, heaviest first."""

    feature: str
    times_seen: int
    rating: float
    outdegree: int
    edges: list[ClassWeight]


class Forgotten(BaseModel):
    """The number of the event that forgot the name."""

    seq: int


class Snapshot(BaseModel):
    """A stored state: everything up to and with event `seq`. `taken_at` is in unix seconds."""

    seq: int
    bytes: int
    taken_at: float


class SnapshotList(BaseModel):
    """The snapshots there are, newest first."""

    snapshots: list[Snapshot]


class Restored(BaseModel):
    """The number of the event that went back, and of the snapshot it went back to."""

    seq: int
    restored: int


class RecoveryReport(BaseModel):
    """The recovery of the state: the snapshot that was loaded, the snapshots that were refused, by
    number, and the events that were replayed."""

    snapshot: Snapshot | None
    refused: RefusedSnapshots
    replayed: int
    last_seq: int = Field(description="where the replay ends")
    seconds: float


class Live(BaseModel):
    """The process runs."""

    status: str = "live"


class Ready(BaseModel):
    """State restored and replayed; store reachable if learning was asked for.

    `recovery` says how the state was restored.
    """

    status: str = "ready"
    seq: int
    recovery: RecoveryReport


class Accuracy(BaseModel):
    """Recall at 1, 5 and 10 before learning, and mean reciprocal rank; 0 without examples."""

    examples: int
    r1: float
    r5: float
    r10: float
    mrr: float


AccuracyByWindow = TypeAliasType("AccuracyByWindow", dict[str, Accuracy])


class ReliabilityBin(BaseModel):
    """Outcomes of about the same confidence: how sure the learner was, and how often right."""

    outcomes: int
    confidence: float | None = Field(description="the mean, null without outcomes")
    right: float | None = Field(description="the share, null without outcomes")


class Confidence(BaseModel):
    """What the confidence of a learner is worth, over the last 10,000 outcomes.

    `calibration_error` is the mean distance of confidence from what came true, bin by bin; `brier`
    the mean square of confidence - outcome. Both are null before there was a confidence.
    """

    calibration_error: float | None
    brier: float | None
    reliability: list[ReliabilityBin] = Field(description="ten bins of confidence, of equal width")


class MemberStats(BaseModel):
    """A member of a committee by itself, over the events of the committee."""

    learner: str
    accuracy: AccuracyByWindow = Field(description="over the last so many events")


class LearnerStats(BaseModel):
    """A learner, what it holds, and how well it does.

    `learner` is its specification, `options` are those that have an effect on it. One `answers`;
    each `shadow` ranks every event before it learns it too, and is asked by nobody. `learn_seconds`
    is the mean time it took to learn an event, since the process began; null before the first.
    """

    learner: str
    role: Role
    options: LearnerOptions
    features: int
    classes: int
    edges: int
    learned: int
    bytes: int = Field(description="its state, by the rule MANYCLASS_MAX_BYTES is held against")
    resident_bytes: int
    evicted_features: int
    evicted_classes: int
    learn_seconds: float | None
    accuracy: AccuracyByWindow = Field(description="over the last so many events")
    confidence: Confidence
    members: list[MemberStats] = Field(description="of a committee, else empty")


class LearnerList(BaseModel):
    """The learners as they were after event `seq`, the one that answers first."""

    seq: int
    learners: list[LearnerStats]


class Promoted(BaseModel):
    """The number of the event that promoted a learner, and the one that answers since."""

    seq: int
    learner: str


class LateLabelStats(BaseModel):
    """Ranked instances that wait for a label."""

    waiting: int
    bytes: int


class ProcessStats(BaseModel):
    """A process that uses the store. `seq` is null while it restores its state."""

    name: str
    seq: int | None
    leads: bool


class Stats(BaseModel):
    """What the service holds and how well it does.

    Sizes, outdegrees and accuracy at this level are those of the learner that answers; `learners`
    has those of every one.

    `process` is the name of the one that answers, `leads` whether it takes the snapshots and trims
    the log, `processes` are all that use the store and live, as last heard. The three are null when
    the store is for one process. `digest` is null unless asked for: a hash of the whole state as it
    was after event `seq`, when the other figures may be of a moment later.
    """

    seq: int
    digest: str | None
    process: str | None
    leads: bool | None
    processes: list[ProcessStats] | None
    log_seq: int
    store_away_seconds: float = Field(description="how long the store has not answered")
    features: int
    classes: int
    edges: int
    learned: int
    bytes: int = Field(description="the state, by the rule MANYCLASS_MAX_BYTES is held against")
    resident_bytes: int
    evicted_features: int
    evicted_classes: int
    outdegrees: list[int] = Field(description="how many features have 0, 1, 2, … edges")
    accuracy: AccuracyByWindow = Field(description="over the last so many events")
    learners: list[LearnerStats]
    late_labels: LateLabelStats
    newest_snapshot: Snapshot | None
    recovery: RecoveryReport
    durability: str
    settings: SettingTexts
