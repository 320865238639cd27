"""The types of the wire: bodies of requests as dicts, answers as immutable structs."""

import msgspec

from manyclass.client.bodies import ClassDescription as ClassDescription
from manyclass.client.bodies import DescribedClass as DescribedClass
from manyclass.client.bodies import EventBody as EventBody
from manyclass.client.bodies import Features as Features
from manyclass.client.bodies import InstanceBody as InstanceBody
from manyclass.client.bodies import Text as Text
from manyclass.client.history import Amended as Amended
from manyclass.client.history import ClassErrors as ClassErrors
from manyclass.client.history import ConfusedPair as ConfusedPair
from manyclass.client.history import Confusions as Confusions
from manyclass.client.history import Deleted as Deleted
from manyclass.client.history import EventPage as EventPage
from manyclass.client.history import HistoryStats as HistoryStats
from manyclass.client.history import RebuildReport as RebuildReport
from manyclass.client.history import RebuildStatus as RebuildStatus
from manyclass.client.history import Suspect as Suspect
from manyclass.client.history import SuspectList as SuspectList
from manyclass.client.history import TaughtEvent as TaughtEvent


class Vote(msgspec.Struct, frozen=True):
    """A feature and its contribution to the score of a class, negative if it voted against it."""

    feature: str
    score: float


class PathNode(msgspec.Struct, frozen=True):
    """A node on the path to a class in a label tree: the number of classes below the node, its
    probability given its parent, and its bias and contributions of features, in log-odds."""

    classes: int
    probability: float
    bias: float
    features: tuple[Vote, ...]


class FamilyScore(msgspec.Struct, frozen=True):
    """A part of the score of a class, and the sum of the parts so far. The part comes from weights
    that the class shares with all classes below this one in the taxonomy; the last part comes from
    its own weights."""

    name: str = msgspec.field(name="class")
    score: float
    sum: float
    features: tuple[Vote, ...]


class ScoreParts(msgspec.Struct, frozen=True):
    """The parts of a score, their sum: by the features and the learner's weights, by the
    description of the class, and by the vector."""

    words: float
    description: float
    vector: float


class NearEvent(msgspec.Struct, frozen=True):
    """The number of a learned event, and the cosine of its vector and that of the instance."""

    seq: int
    similarity: float


class RankedClass(msgspec.Struct, frozen=True, omit_defaults=True):
    """A class with its score, which may be negative. With `decode`, `expected_loss` is the expected
    taxonomic loss of choosing it. `title` is its name for people. `probability` is that it is
    right, if it was asked for and is known. With `explain`, `features` has the votes for it; in a
    label tree `path` has the nodes from below the root to it, and with a learner of class families
    `families` has the parts of its score, from the top of the taxonomy down. If classes have
    descriptions, or the instance has a vector, `parts` has the parts of the score, `description`
    the votes through the description of the class, and `nearest` its nearest learned events."""

    name: str = msgspec.field(name="class")
    score: float
    expected_loss: float | None = None
    title: str | None = None
    probability: float | None = None
    features: tuple[Vote, ...] = ()
    path: tuple[PathNode, ...] = ()
    families: tuple[FamilyScore, ...] = ()
    parts: ScoreParts | None = None
    description: tuple[Vote, ...] = ()
    nearest: tuple[NearEvent, ...] = ()


class InstanceWarning(msgspec.Struct, frozen=True):
    """A probable mistake, at a JSON pointer into the request: an instance without features, a text
    of which a part is left out, values below 0 that a learner ignores, or names in `among`
    that no class has."""

    detail: str
    pointer: str


class Ranking(msgspec.Struct, frozen=True):
    """The classes of one instance, best first. A later label refers to the instance by `id`, which
    is empty if the instance was not kept and has no id of its own.

    `confidence` is the probability that the class with the highest score is right, None while it is
    unknown. If it is below `min_confidence`, or below the `limit` that `min_accuracy` needs, the
    service abstains: `abstained` is True, and `ranked` is empty; so it does if no class reaches
    `min_probability` or the limit for `min_precision`. `limit` is None without `min_accuracy` and
    `min_precision`, and if no limit reaches what was asked.
    """

    ranked: tuple[RankedClass, ...]
    id: str = ""
    confidence: float | None = None
    limit: float | None = None
    abstained: bool = False
    warnings: tuple[InstanceWarning, ...] = ()


class Rankings(msgspec.Struct, frozen=True):
    """A ranking for each instance, in order. `seq` is the number of the last event they include."""

    seq: int
    results: tuple[Ranking, ...]
    warnings: tuple[InstanceWarning, ...] = ()


class Learned(msgspec.Struct, frozen=True):
    """One durable and learned event. `rank_before` is the best true class's position before
    learning, None if it was not retrieved."""

    seq: int
    accepted: int
    duplicates: int
    updated: bool
    rank_before: int | None
    warnings: tuple[InstanceWarning, ...] = ()


class LearnedMany(msgspec.Struct, frozen=True):
    """Durable and learned events. `ranks_before` has the `rank_before` of each, None for a
    duplicate."""

    seq: int
    accepted: int
    duplicates: int
    ranks_before: tuple[int | None, ...]
    warnings: tuple[InstanceWarning, ...] = ()


class ClassCount(msgspec.Struct, frozen=True):
    """A class, the number of events that named it, its path in the taxonomy, and its
    description."""

    name: str = msgspec.field(name="class")
    learned: int
    path: tuple[str, ...] = ()
    title: str | None = None
    description: str | None = None
    alt_labels: tuple[str, ...] = ()
    has_vector: bool = False


class Title(msgspec.Struct, frozen=True, rename={"name": "class"}):
    """A class and its name for people."""

    name: str
    title: str


class TitleList(msgspec.Struct, frozen=True):
    """The classes that have a title, of those asked for."""

    titles: tuple[Title, ...]


class FeatureCount(msgspec.Struct, frozen=True):
    """A feature and the number of events that had it."""

    feature: str
    times_seen: int


class FeatureWeight(msgspec.Struct, frozen=True):
    """A feature and the weight of its edge to the class."""

    feature: str
    weight: float


class ClassDetail(msgspec.Struct, frozen=True):
    """A class, its description, the features with an edge to it, heaviest first, and its place in
    the taxonomy: `path` has the names from the top down to the class. There are more children after
    `next`. `former_names` stand for it since classes were renamed or merged."""

    name: str = msgspec.field(name="class")
    learned: int
    features: tuple[FeatureWeight, ...]
    parent: str | None = None
    path: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    next: str | None = None
    former_names: tuple[str, ...] = ()
    title: str | None = None
    description: str | None = None
    alt_labels: tuple[str, ...] = ()
    has_vector: bool = False


class ClassWeight(msgspec.Struct, frozen=True):
    """A class and the weight of the feature's edge to it."""

    name: str = msgspec.field(name="class")
    weight: float


class FeatureDetail(msgspec.Struct, frozen=True):
    """A feature and its edges, heaviest first."""

    feature: str
    times_seen: int
    rating: float
    outdegree: int
    edges: tuple[ClassWeight, ...]


class Snapshot(msgspec.Struct, frozen=True):
    """A stored state after event `seq`. `taken_at` is in unix seconds."""

    seq: int
    bytes: int
    taken_at: float


class Accuracy(msgspec.Struct, frozen=True):
    """Recall at 1, 5 and 10 before learning, and mean reciprocal rank; 0 without examples."""

    examples: int
    r1: float
    r5: float
    r10: float
    mrr: float
    taxonomic_loss: float | None = None
    parent_accuracy: float | None = None


class ReliabilityBin(msgspec.Struct, frozen=True):
    """Outcomes of similar confidence: their mean confidence, and the share of right rankings."""

    outcomes: int
    confidence: float | None
    right: float | None


class Confidence(msgspec.Struct, frozen=True):
    """The calibration of a learner's confidence over the last 10,000 outcomes.

    The values are None before the first outcome; `reliability` has ten bins of equal width.
    """

    calibration_error: float | None
    brier: float | None
    reliability: tuple[ReliabilityBin, ...]


class MixtureWeights(msgspec.Struct, frozen=True):
    """The weights of the parts of a score: of the learner's own scores, of the vote of the nearest
    past instances, and of descriptions and vectors, which are None while there are none."""

    words: float
    neighbors: float
    descriptions: float | None
    vectors: float | None


class Learner(msgspec.Struct, frozen=True):
    """A learner by its specification: its size and its accuracy.

    The `primary` learner answers; all others are shadows. `learn_seconds` is the mean time to learn
    an event since the process started, None before the first. `accuracy` is by the number of last
    events that it covers.
    """

    label: str = msgspec.field(name="learner")
    options: dict[str, bool | int | float | str]
    features: int
    classes: int
    edges: int
    learned: int
    bytes: int
    learn_seconds: float | None
    accuracy: dict[str, Accuracy]
    confidence: Confidence
    mixture: MixtureWeights
    primary: bool


class ReviewInstance(msgspec.Struct, frozen=True):
    """An instance that waits for its label by `id`, and the first classes of its ranking now, by
    the primary or the requested learner; as served if it is for a `second` label. If `abstained` is
    True, it was served without classes. `age` is in seconds."""

    id: str
    ranked: tuple[str, ...]
    confidence: float | None
    abstained: bool
    age: float
    features: dict[str, float]
    omitted_features: int
    source: str | None = None
    batch: str | None = None
    probabilities: tuple[float | None, ...] = ()  # of the `ranked` classes, None: unknown
    event: str | None = None  # the key of a learned event, whose label is likely wrong
    classes: tuple[str, ...] = ()  # its label
    text: Text | None = None  # the first 4,096 bytes, if the instance was sent as text
    text_cut: bool = False
    second: bool = False  # another reviewer has labelled it
    dimension: int | None = None  # of the vector


class Review(msgspec.Struct, frozen=True):
    """Instances to label, and the number of all that wait. They are leased to the `reviewer`, if
    there is one, for `lease_seconds`. `process` is None if only one process can use the store.
    `failing` is the reason why stored instances cannot be read, or new ones not stored."""

    process: str | None
    instances: tuple[ReviewInstance, ...]
    reviewer: str | None = None
    lease_seconds: float = 0.0
    failing: str | None = None
    waiting: int = 0


class GivenForReview(msgspec.Struct, frozen=True):
    """The ids of instances given for review, in their order, and of those labelled already."""

    ids: tuple[str, ...]
    labelled: tuple[str, ...] = ()


class Leases(msgspec.Struct, frozen=True):
    """The instances that a reviewer has, and instances that do not wait for a label."""

    held: tuple[str, ...]
    not_waiting: tuple[str, ...] = ()


class UndoneLabel(msgspec.Struct, frozen=True):
    """The number of the event that deletes a label, and of the event of the label."""

    seq: int
    deleted: int


class Served(msgspec.Struct, frozen=True):
    """The accuracy of the served rankings, by their later labels by id: the true class was served
    first, later, or not among the first five. `r1_before_learning` is the accuracy of the model
    just before it learned the same labels. Both shares are None without labels."""

    first: int
    later: int
    missed: int
    abstained: int
    r1: float | None
    r1_before_learning: float | None


class Stats(msgspec.Struct, frozen=True):
    """The contents of the service, its accuracy and its settings.

    `accuracy` is by the number of last events; `durability` describes the durability of an event
    that /learn has answered.
    """

    seq: int
    features: int
    classes: int
    edges: int
    learned: int
    bytes: int
    accuracy: dict[str, Accuracy]
    durability: str
    settings: dict[str, str]
    described: int  # the number of classes with a title or other description
    taxonomy: int  # the number of classes and other nodes in the taxonomy
    history: HistoryStats | None  # None if the service keeps none
    served: Served


class ClassPage(msgspec.Struct, frozen=True):
    """Classes in the order of their names; `next` is None on the last page."""

    classes: tuple[ClassCount, ...]
    next: str | None


class FeaturePage(msgspec.Struct, frozen=True):
    """Features in the order of their names; `next` is None on the last page."""

    features: tuple[FeatureCount, ...]
    next: str | None


class TaxonomyNode(msgspec.Struct, frozen=True, rename={"name": "class"}):
    """A node of the taxonomy, and the number of events that named it."""

    name: str
    learned: int
    has_children: bool
    title: str | None = None


class TaxonomyPage(msgspec.Struct, frozen=True):
    """The nodes below a parent in the order of placement; `next` is None on the last page."""

    nodes: tuple[TaxonomyNode, ...]
    next: str | None


class Live(msgspec.Struct, frozen=True):
    """The process runs."""

    status: str


class Ready(msgspec.Struct, frozen=True):
    """The process is ready; `learns` is False while learning is paused."""

    learns: bool


class Setting(msgspec.Struct, frozen=True):
    """A setting in force: its option of `manyclass serve`, its value, the source of the value, its
    default, and its help text. Keys are counted, not shown; passwords are hidden."""

    option: str
    value: str
    source: str
    default: str
    help: str


class SettingList(msgspec.Struct, frozen=True):
    """Every setting by its environment variable."""

    settings: dict[str, Setting]


class SnapshotList(msgspec.Struct, frozen=True):
    """The snapshots, newest first."""

    snapshots: tuple[Snapshot, ...]


class LearnerList(msgspec.Struct, frozen=True):
    """The learners, the primary one first."""

    learners: tuple[Learner, ...]


class LearnerAdded(msgspec.Struct, frozen=True):
    """The number of the last event after the addition, and the name of the shadow; `rebuild` is
    None unless it has learned the history."""

    seq: int
    learner: str
    rebuild: RebuildReport | None = None


class OperatingPoint(msgspec.Struct, frozen=True):
    """The answers with a confidence of at least `limit`, and how many of them were right.

    `low` and `high` are the ends of a Wilson interval at 90 %. `classes` is the number of different
    classes ranked first among these answers; None for a group.
    """

    limit: float
    answers: int
    right: int
    coverage: float
    coverage_low: float
    coverage_high: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    classes: int | None


class TargetPoint(msgspec.Struct, frozen=True):
    """A target accuracy, and the point of the least limit that reaches it; None without one."""

    target: float
    point: OperatingPoint | None


class OperatingCurve(msgspec.Struct, frozen=True):
    """The operating points of outcomes, each ranked before it was learned; the highest limit first.

    `best` is the point of the highest `accuracy_low`.
    """

    outcomes: int
    right: int
    accuracy: float | None
    classes: int
    targets: tuple[TargetPoint, ...]
    best: OperatingPoint | None
    curve: tuple[OperatingPoint, ...]


class ProbabilityPoint(msgspec.Struct, frozen=True):
    """The ranked classes with a probability of at least `limit`, how many of them were right, and
    how many rankings have such a class.

    `low` and `high` are the ends of a Wilson interval at 90 %. `recall` is the share of the right
    ones among all true classes.
    """

    limit: float
    classes: int
    right: int
    rankings: int
    precision: float
    precision_low: float
    precision_high: float
    recall: float


class TargetPrecision(msgspec.Struct, frozen=True):
    """A target precision, and the point of the least limit that reaches it; None without one."""

    target: float
    point: ProbabilityPoint | None


class ProbabilityCurve(msgspec.Struct, frozen=True):
    """Precision and recall of the first ten classes of past rankings, the highest limit first.

    `best` is the point of the highest `precision_low`.
    """

    rankings: int
    true_classes: int
    targets: tuple[TargetPrecision, ...]
    best: ProbabilityPoint | None
    curve: tuple[ProbabilityPoint, ...]


class OutcomeGroup(msgspec.Struct, frozen=True):
    """The outcomes with one class ranked first, or of one source."""

    name: str
    outcomes: int
    right: int
    accuracy: float
    targets: tuple[TargetPoint, ...]
    best: OperatingPoint | None


class ReachedBy(msgspec.Struct, frozen=True):
    """The number of groups that reach a target at a limit of their own."""

    target: float
    groups: int


class OutcomeGroups(msgspec.Struct, frozen=True):
    """A page of groups, the one with most outcomes first; `next` is the offset of the next page."""

    by: str
    total: int
    reached: tuple[ReachedBy, ...]
    groups: tuple[OutcomeGroup, ...]
    next: int | None


class OperatingPoints(msgspec.Struct, frozen=True):
    """The operating points of a learner: over its newest outcomes, and over all that are kept."""

    seq: int
    learner: str
    newest: OperatingCurve
    all: OperatingCurve
    probabilities: ProbabilityCurve
    groups: OutcomeGroups | None


class EventNumber(msgspec.Struct, frozen=True):
    """The number of the event that made a change."""

    seq: int
