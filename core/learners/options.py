"""The options that shape a learner. They are part of its state: stored with it, compared at start.

Each learner has its own defaults and its own set of options that matter to it; one that would have
no effect is refused. A learner and its options can be written in one line, its specification:

    ff    pa(replay=4)    committee(members=ff+pa(replay=4), vote=rarest)
"""

from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, get_args

from manyclass.core.errors import OptionError, did_you_mean
from manyclass.core.progressive_validation import DEEPEST

LONGEST_ROW = 65_535
MOST_MEMBERS = 64
LARGEST = 1e9  # of a number without a bound of its own

LearnerName = Literal[
    "ff",
    "ind",
    "ema",
    "ooz",
    "pa",
    "mmp",
    "arow",
    "svm",
    "iplt",
    "oplt",
    "frequency",
    "committee",
]
LEARNERS: tuple[LearnerName, ...] = get_args(LearnerName)
TREES = ("iplt", "oplt")  # whose scores are probabilities
DEFAULT_LEARNER: LearnerName = "svm"  # of a store that nothing was learned in yet
Demands = Literal["pairs", "each"]
Vote = Literal["majority", "rarest", "score", "probability"]
Shape = Literal["complete", "random", "huffman", "kmeans"]
Policy = Literal["greedy", "random"]


@dataclass(frozen=True, slots=True)
class Options:
    """What one learner does. The defaults written here are those of feature focus.

    `Options.of` gives those of any learner. Margin threshold and memory are those that did best on
    drifting streams (docs/measurements.md); the paper's are 0 and infinite, and it does not damp
    values: then words that stand in every long document fill the masses of FF (docs/evaluation.md,
    section 6). The comments name the symbols of the papers (Madani et al., JMLR 2009, unless
    another is said).
    """

    learner: LearnerName = "ff"
    margin_threshold: float = 0.1  # delta_m: learn when the margin is not above it
    min_weight: float = 0.01  # w_min: lighter edges are dropped; IND leaves them out when ranking
    max_outdegree: int = 25  # d_max: edges of a feature that vote; signed learners keep no others
    rating: int = 10  # times seen for a feature's full vote; 0: every feature votes in full
    leak: bool = True  # a dropped edge's mass stays in the feature mass
    boolean: bool = False  # every value counts as 1, and nothing is scaled
    normalize: Literal["l2", "none"] = "l2"
    sublinear: bool = True  # a value v above 1 counts as 1 + log v
    tfidf: bool = False  # a value counts more, the rarer its feature has been so far
    retrieval_window: int = 50  # a true class ranked beyond it scores 0 when learning
    feature_memory: float = 30.0  # a row with more mass is halved; 0: infinite
    rate: float = 0.1  # beta of EMA and OOZ: how far one update moves a weight
    aggressiveness: float = 1.0  # C of PA-II, 1/r of AROW: how far one instance may move the model
    caution: float = 0.2  # C of what an SVM demands of wrong classes
    demands: Demands = "pairs"  # of an SVM: true above wrong classes, or each above or below 0
    rivals: int = 5  # wrong classes, at most, that give way in one update: k of OOZ
    epsilon: float = 0.01  # of AdaGrad: what the squared gradients of a weight begin with
    tree: Shape = "kmeans"  # in which a label tree is planted over the classes of its sample
    sample: int = 0  # first instances, over whose classes a label tree is planted; 0: it only grows
    policy: Policy = "greedy"  # where new classes go in a label tree: where they fit, or anywhere
    alpha: float = 0.75  # of the greedy policy: how much a balanced tree counts
    arity: int = 16  # children of a node of a label tree, at most
    max_leaves: int = 16  # classes below one node of a label tree, at most
    replay: int = 0  # past instances learned again after each event
    replay_size: int = 10_000  # past instances kept for it
    subsample: float = 1.0  # share of the events a member of a committee learns
    shuffle: int = 0  # events a member of a committee keeps waiting, to learn them in random order
    seed: int = 0  # of replay, subsample and shuffle
    members: str = ""  # of a committee: specifications joined by +
    vote: Vote = "majority"  # how a committee makes one ranking of its members'
    max_features: int = 10_000_000
    max_classes: int = 1_000_000
    max_bytes: int = 4 * 2**30

    def __post_init__(self) -> None:
        """Raise OptionError for the first option out of its range, or without effect."""

        def need(condition: bool, option: str, message: str) -> None:
            if not condition:
                raise OptionError(option, message)

        for name in Options.__dataclass_fields__:
            object.__setattr__(self, name, _plain(name, getattr(self, name)))
        need(self.learner in LEARNERS, "learner", f"must be one of {', '.join(LEARNERS)}")
        need(abs(self.margin_threshold) <= LARGEST, "margin_threshold", "must be -1e9 to 1e9")
        need(
            self.learner != "ooz" or self.margin_threshold > 0,
            "margin_threshold",
            "must be above 0 for ooz, which moves at most half of it",
        )
        need(0 <= self.min_weight < 1, "min_weight", "must be at least 0 and below 1")
        need(1 <= self.max_outdegree <= LONGEST_ROW, "max_outdegree", f"must be 1 to {LONGEST_ROW}")
        need(0 <= self.rating < 2**31, "rating", "must be 0 (off) or a number of times seen")
        need(self.normalize in ("l2", "none"), "normalize", "must be 'l2' or 'none'")
        need(1 <= self.retrieval_window < 2**31, "retrieval_window", "must be at least 1")
        need(
            isfinite(self.feature_memory)
            and (self.feature_memory == 0 or self.feature_memory >= 1),
            "feature_memory",
            "must be 0 (infinite) or a mass of at least 1",
        )
        most = 100 if self.learner in TREES else 1
        need(0 < self.rate <= most, "rate", f"must be above 0 and at most {most}")
        need(1 / LARGEST <= self.aggressiveness <= LARGEST, "aggressiveness", "must be 1e-9 to 1e9")
        need(1 / LARGEST <= self.caution <= LARGEST, "caution", "must be 1e-9 to 1e9")
        need(self.demands in get_args(Demands), "demands", "must be 'pairs' or 'each'")
        need(1 <= self.rivals <= 1000, "rivals", "must be 1 to 1000")
        need(1e-9 <= self.epsilon <= LARGEST, "epsilon", "must be 1e-9 to 1e9")
        need(self.tree in get_args(Shape), "tree", f"must be one of {', '.join(get_args(Shape))}")
        need(0 <= self.sample <= 2**24, "sample", "must be 0 (none) to 16777216 instances")
        need(self.policy in get_args(Policy), "policy", "must be 'greedy' or 'random'")
        need(0 <= self.alpha <= 1, "alpha", "must be 0 to 1")
        need(2 <= self.arity <= 1000, "arity", "must be 2 to 1000")
        need(1 <= self.max_leaves <= 1000, "max_leaves", "must be 1 to 1000")
        need(0 <= self.replay <= 1000, "replay", "must be 0 (off) to 1000 instances an event")
        need(1 <= self.replay_size <= 2**24, "replay_size", "must be 1 to 16777216 instances")
        need(0 < self.subsample <= 1, "subsample", "must be above 0 and at most 1")
        need(0 <= self.shuffle <= 2**20, "shuffle", "must be 0 (off) to 1048576 events")
        need(0 <= self.seed < 2**63, "seed", "must be 0 to 9223372036854775807")
        need(self.vote in get_args(Vote), "vote", f"must be one of {', '.join(get_args(Vote))}")
        need(1 <= self.max_features < 2**32 - 1, "max_features", "must be 1 to 4294967294")
        need(1 <= self.max_classes < 2**32 - 1, "max_classes", "must be 1 to 4294967294")
        need(2**20 <= self.max_bytes <= 2**34, "max_bytes", "must be 1 MiB to 16 GiB, in bytes")
        need(
            all(part.strip() for part in _parts(self.members, "+"))
            if self.learner == "committee"
            else not self.members,
            "members",
            "must name the members of a committee, as in ff+pa(replay=4), and of nothing else",
        )
        for name, value in defaults_of(self.learner).items():
            if getattr(self, name) != value and name not in MATTERS[self.learner]:
                learners = _those_it_matters_to(name)
                message = f"has no effect on learner {self.learner!r}, only on {learners}"
                raise OptionError(name, message)
        members = members_of(self)
        need(
            self.vote != "probability" or all(each.learner in TREES for each in members),
            "vote",
            f"can be 'probability' only where every member is one of {', '.join(TREES)}",
        )
        need(len(members) <= MOST_MEMBERS, "members", f"must be {MOST_MEMBERS} at most")
        # a committee parts its bytes: a table of classes, each member, each one's waiting events
        parts = 1 + len(members) + sum(member.shuffle > 0 for member in members)
        need(
            not members or self.max_bytes >= parts * 2**20,
            "max_bytes",
            f"must be 1 MiB for each of the {parts} parts of the committee",
        )

    @classmethod
    def of(cls, learner: str, **given: Any) -> "Options":
        """The options of a learner: its own defaults, but for those `given`."""
        if learner not in LEARNERS:
            message = f"must be one of {', '.join(LEARNERS)}, not {learner!r}"
            suggestion = did_you_mean(learner, LEARNERS)
            raise OptionError("learner", f"{message}; {suggestion}" if suggestion else message)
        unknown = given.keys() - cls.__dataclass_fields__.keys()
        if unknown:
            raise OptionError(min(unknown), _unknown_option(min(unknown)))
        return cls(**{**defaults_of(learner), **given, "learner": learner})

    @classmethod
    def parse(cls, specification: str, **inherited: Any) -> "Options":
        """The options a specification means, `inherited` ones being its defaults.

        Raises OptionError, for the option "learner" when the text as such cannot be read.
        """
        name, given = _parsed(specification)
        return cls.of(name, **{**inherited, **given})

    @property
    def specification(self) -> str:
        """The learner and what differs from its defaults, but for the limits on its size."""
        defaults = defaults_of(self.learner)
        differing = ",".join(
            f"{name}={_text(value)}"
            for name, value in self.to_dict().items()
            if name not in LIMITS and name != "learner" and value != defaults[name]
        )
        return f"{self.learner}({differing})" if differing else self.learner

    @property
    def needs_features(self) -> bool:
        """Return whether a class is only ranked by features it was learned with.

        True of a label tree too: what its bias says without features is no reason for a new class.
        """
        if self.learner == "committee":
            return all(member.needs_features for member in members_of(self))
        return self.learner != "frequency"

    def to_dict(self) -> dict[str, Any]:
        """The options by name, as plain values."""
        return {name: getattr(self, name) for name in Options.__dataclass_fields__}

    def differences(self, other: "Options") -> dict[str, tuple[Any, Any]]:
        """The options that differ: name -> (here, in the other)."""
        mine, others = self.to_dict(), other.to_dict()
        return {name: (mine[name], others[name]) for name in mine if mine[name] != others[name]}


_PLAIN_DEFAULTS = {field.name: field.default for field in fields(Options)[1:]}  # but for learner

LIMITS = ("max_features", "max_classes", "max_bytes")

# What shapes an instance before it is ranked, and the state as a whole: every learner has these.
_COMMON = {"boolean", "normalize", "sublinear", "tfidf", "seed", "subsample", "shuffle", *LIMITS}
_REPLAY = {"replay", "replay_size"}
_SIGNED = {"margin_threshold", "max_outdegree", "rating", *_REPLAY}

_TREE = frozenset(
    {
        *("tree", "sample", "policy", "alpha", "arity", "max_leaves"),
        *("rate", "epsilon", "min_weight", "retrieval_window"),
        *_COMMON,
    }
)

MATTERS: dict[str, frozenset[str]] = {
    "ff": frozenset(
        {
            *("margin_threshold", "min_weight", "max_outdegree", "rating", "leak"),
            *("retrieval_window", "feature_memory"),
            *_COMMON,
            *_REPLAY,
        }
    ),
    "ind": frozenset({"min_weight", "max_outdegree", "rating", "feature_memory", *_COMMON}),
    "ema": frozenset(
        {
            *("margin_threshold", "min_weight", "max_outdegree", "rating"),
            *("retrieval_window", "rate"),
            *_COMMON,
            *_REPLAY,
        }
    ),
    "ooz": frozenset(
        {
            *("margin_threshold", "max_outdegree", "rating", "rate", "rivals"),
            *_COMMON,
            *_REPLAY,
        }
    ),
    "pa": frozenset({"aggressiveness", "rivals", *_SIGNED, *_COMMON}),
    "mmp": frozenset({"rivals", *_SIGNED, *_COMMON} - {"margin_threshold"}),
    "arow": frozenset({"aggressiveness", "rivals", *_SIGNED, *_COMMON}),
    "svm": frozenset({"aggressiveness", "caution", "demands", "rivals", *_SIGNED, *_COMMON}),
    "iplt": _TREE,
    "oplt": _TREE,
    "frequency": frozenset({"retrieval_window", "seed", "subsample", "shuffle", *LIMITS}),
    "committee": frozenset({"members", "vote", "seed", *LIMITS}),
}

_TREE_DEFAULTS: dict[str, Any] = {
    "rate": 1.0,
    "rating": 0,
    "min_weight": 0.0,
    "retrieval_window": DEEPEST,  # nothing is learned from it, and a search far down is dear
    "sublinear": True,
    "tfidf": True,
}

# Where the default differs from that of feature focus.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "ff": {},
    "ind": {
        "boolean": True,
        "sublinear": False,
        "min_weight": 0.1,
        "max_outdegree": LONGEST_ROW,
        "rating": 0,
        "feature_memory": 0.0,
    },
    "ema": {"min_weight": 0.001, "sublinear": False},
    "ooz": {
        "margin_threshold": 0.005,
        "rate": 0.001,
        "rivals": 15,
        "max_outdegree": 100,
        "rating": 0,
        "sublinear": False,
    },
    "pa": {"margin_threshold": 1.0, "max_outdegree": 50, "rating": 0, "sublinear": False},
    "mmp": {"max_outdegree": 50, "rating": 0, "rivals": 1000, "sublinear": False},
    "arow": {"margin_threshold": 1.0, "max_outdegree": 50, "rating": 0, "sublinear": False},
    "svm": {
        "margin_threshold": 1.0,
        "max_outdegree": 50,
        "rating": 0,
        "replay": 2,
        "tfidf": True,
    },
    "iplt": {**_TREE_DEFAULTS, "sample": 1000},
    "oplt": _TREE_DEFAULTS,
    "frequency": {},
    "committee": {},
}


def defaults_of(learner: str) -> dict[str, Any]:
    """Every option but the learner's own name, as it is where nothing else is said."""
    return {**_PLAIN_DEFAULTS, **_DEFAULTS[learner]}


def members_of(options: Options) -> list[Options]:
    """The options of each member of a committee, in order; empty for other learners.

    A member has the committee's limits, and the seed that follows the seed of the one before it,
    unless it says otherwise.
    """
    if options.learner != "committee":
        return []
    limits = {name: getattr(options, name) for name in LIMITS}
    members = []
    for position, specification in enumerate(split(options.members, "+")):
        try:
            member = Options.parse(specification, seed=(options.seed + position) % 2**63, **limits)
        except OptionError as error:
            raise OptionError("members", str(error)) from error
        if member.learner == "committee":
            raise OptionError("members", "a committee cannot be a member of another")
        members.append(member)
    return members


def _those_it_matters_to(option: str) -> str:
    """The learners on which the option has an effect."""
    return ", ".join(learner for learner in LEARNERS if option in MATTERS[learner])


def may_be_planted(options: Options) -> bool:
    """Whether the learner, or a member of it, takes a tree over classes it has not learned yet."""
    return any(each.learner == "iplt" for each in (options, *members_of(options)))


def split(specifications: str, separator: str = ",") -> list[str]:
    """The specifications in a text, parted where the separator stands outside of parentheses."""
    return [part.strip() for part in _parts(specifications, separator) if part.strip()]


def _parts(text: str, separator: str) -> list[str]:
    """The text parted where the separator stands outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _parsed(specification: str) -> tuple[str, dict[str, Any]]:
    """The learner's name and the options that are given."""
    name, parenthesis, rest = specification.strip().partition("(")
    if not parenthesis:
        return name, {}
    if not rest.endswith(")"):
        raise OptionError("learner", f"{specification!r} has no closing parenthesis at its end")
    given: dict[str, Any] = {}
    for part in split(rest[:-1]):
        option, equals, text = (piece.strip() for piece in part.partition("="))
        if not equals or option in given:
            raise OptionError("learner", f"{part!r} must be option=value, each option once")
        given[option] = _value(option, text)
    return name.strip(), given


def _unknown_option(option: str) -> str:
    known = [each for each in Options.__dataclass_fields__ if each != "learner"]
    suggestion = did_you_mean(option, known) or f"known are {', '.join(known)}"
    return f"is not an option of a learner; {suggestion}"


def _value(option: str, text: str) -> Any:
    """The value that a text means for this option."""
    if option not in Options.__dataclass_fields__ or option == "learner":
        raise OptionError(option, _unknown_option(option))
    default: Any = Options.__dataclass_fields__[option].default
    if isinstance(default, bool):
        if text not in ("yes", "no"):
            raise OptionError(option, f"must be yes or no, not {text!r}")
        return text == "yes"
    if isinstance(default, str):
        return text
    try:
        return type(default)(text)
    except ValueError:
        what = "a whole number" if isinstance(default, int) else "a number"
        raise OptionError(option, f"must be {what}, not {text!r}") from None


def _text(value: Any) -> str:
    """The value as `_value` reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).removesuffix(".0")


def _plain(option: str, value: object) -> object:
    """The value as the one type its option has, so that equal options are stored equally."""
    default = Options.__dataclass_fields__[option].default
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise OptionError(option, "must be a finite number") from None
    if option == "members" and isinstance(value, str):
        return "".join(value.split())  # so that equal committees are called alike
    if isinstance(value, float) and isinstance(default, float):
        return value + 0.0  # no negative zero
    if type(value) is not type(default):
        raise OptionError(option, f"must be of type {type(default).__name__}, not {value!r}")
    return value
