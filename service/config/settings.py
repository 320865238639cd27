"""Every setting of the service in one table, which feeds environment, command line and docs."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from ipaddress import ip_address
from math import isfinite
from typing import Any, Literal

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import (
    DEFAULT_LEARNER,
    LEARNERS,
    LIMITS,
    MATTERS,
    Options,
    defaults_of,
    split,
)
from manyclass.core.model_set import ModelSet, check_shadows

PREFIX = "MANYCLASS_"
HIDDEN = "(hidden)"
_ANY = "ff"  # the members of some committee
_OWN_WORDS = ("store", "learner", "shadows")  # a forgotten prefix would cost data or accuracy

Kind = Literal[
    "text",
    "URL",
    "whole number",
    "number",
    "seconds",
    "bytes",
    "yes or no",
    "keys",
    "origins",
    "learner",
    "learners",
]


class SettingError(Exception):
    """A setting that cannot be used: which variable, what it was given, and what is allowed."""

    def __init__(self, variable: str, value: str, allowed: str) -> None:
        super().__init__(f"{variable}={value}: {allowed}")
        self.variable = variable
        self.value = value
        self.allowed = allowed


def _about(
    kind: Kind, help: str, least: float | None = None, most: float | None = None
) -> dict[str, Any]:
    return {"kind": kind, "help": help, "least": least, "most": most}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the operator may choose; one that exists is one the service can run with."""

    host: str = field(default="127.0.0.1", metadata=_about("text", "address to listen on"))
    port: int = field(
        default=8000,
        metadata=_about("whole number", "port to listen on; 0 takes a free one", 0, 65535),
    )
    store: str = field(
        default="sqlite:./data/manyclass.db",
        repr=False,  # it may hold a password
        metadata=_about(
            "URL", "where events and snapshots are kept: sqlite:PATH, redis://HOST/DB or memory:"
        ),
    )
    store_seconds: float = field(
        default=5.0,
        metadata=_about(
            "seconds", "how long a store that others share may take to answer, then 503", 0.1
        ),
    )

    learner: str | None = field(
        default=None,
        metadata=_about(
            "learner", "which learner answers, with options of its own or not: pa(replay=4)"
        ),
    )
    shadows: tuple[str, ...] | None = field(
        default=None,
        metadata=_about(
            "learners", "learners beside it that learn and do not answer, with commas, or none"
        ),
    )
    margin_threshold: float | None = field(
        default=None,
        metadata=_about(
            "number", "how far a true class is to score above wrong ones, to be learned no more"
        ),
    )
    min_weight: float | None = field(
        default=None,
        metadata=_about("number", "edges lighter than this are dropped; from 0 to below 1"),
    )
    max_outdegree: int | None = field(
        default=None,
        metadata=_about("whole number", "how many classes, at most, a feature votes for"),
    )
    rating: int | None = field(
        default=None,
        metadata=_about(
            "whole number", "how often a feature must be seen for its full vote; 0: at once"
        ),
    )
    leak: bool | None = field(
        default=None,
        metadata=_about("yes or no", "the mass of a dropped edge stays in its feature"),
    )
    boolean: bool | None = field(
        default=None, metadata=_about("yes or no", "every value counts as 1, and nothing is scaled")
    )
    normalize: Literal["l2", "none"] | None = field(
        default=None, metadata=_about("text", "how an instance's values are scaled: l2 or none")
    )
    sublinear: bool | None = field(
        default=None,
        metadata=_about("yes or no", "a value counts as 1 + log(value) when it is above 1"),
    )
    tfidf: bool | None = field(
        default=None,
        metadata=_about("yes or no", "weigh each value by how rare its feature has been so far"),
    )
    retrieval_window: int | None = field(
        default=None,
        metadata=_about(
            "whole number",
            "a true class ranked beyond this place is not retrieved: it scores 0 when learning",
        ),
    )
    feature_memory: float | None = field(
        default=None,
        metadata=_about("number", "a feature with more mass than this has it halved; 0: never"),
    )
    rate: float | None = field(
        default=None,
        metadata=_about(
            "number", "how far one update moves a weight; above 0, at most 1 (of label trees 100)"
        ),
    )
    epsilon: float | None = field(
        default=None,
        metadata=_about("number", "what the squared gradients of a weight begin with (AdaGrad)"),
    )
    tree: Literal["complete", "random", "huffman", "kmeans"] | None = field(
        default=None,
        metadata=_about("text", "how a label tree is planted: complete, random, huffman or kmeans"),
    )
    sample: int | None = field(
        default=None,
        metadata=_about(
            "whole number", "first events over whose classes it is planted; 0: it only grows"
        ),
    )
    policy: Literal["greedy", "random"] | None = field(
        default=None,
        metadata=_about(
            "text", "where new classes go in a label tree: where they fit (greedy) or anywhere"
        ),
    )
    alpha: float | None = field(
        default=None,
        metadata=_about("number", "how much a balanced tree counts there; from 0 to 1"),
    )
    arity: int | None = field(
        default=None,
        metadata=_about("whole number", "children of a node of a label tree, at most"),
    )
    max_leaves: int | None = field(
        default=None,
        metadata=_about("whole number", "classes below one node of a label tree, at most"),
    )
    aggressiveness: float | None = field(
        default=None, metadata=_about("number", "how far one instance may move the model")
    )
    caution: float | None = field(
        default=None,
        metadata=_about("number", "how far one instance may move a wrong class of an SVM"),
    )
    demands: Literal["pairs", "each"] | None = field(
        default=None,
        metadata=_about("text", "what an SVM is after: true above wrong classes in pairs, or each"),
    )
    rivals: int | None = field(
        default=None,
        metadata=_about(
            "whole number", "wrong classes, at most, that give way when an instance is learned"
        ),
    )
    replay: int | None = field(
        default=None,
        metadata=_about(
            "whole number", "past instances that are learned again after each event; 0: none"
        ),
    )
    replay_size: int | None = field(
        default=None, metadata=_about("whole number", "past instances that are kept for it")
    )
    seed: int | None = field(
        default=None, metadata=_about("whole number", "of what is drawn at random when learning")
    )
    members: str | None = field(
        default=None, metadata=_about("text", "the learners of a committee, with + between them")
    )
    vote: Literal["majority", "rarest", "score", "probability"] | None = field(
        default=None,
        metadata=_about("text", "how a committee ranks: majority, rarest, score or probability"),
    )
    max_features: int | None = field(
        default=None,
        metadata=_about(
            "whole number", "features a learner keeps, at most; beyond it some are evicted"
        ),
    )
    max_classes: int | None = field(
        default=None,
        metadata=_about(
            "whole number", "classes a learner keeps, at most; beyond it some are evicted"
        ),
    )
    max_bytes: int | None = field(
        default=None,
        metadata=_about("bytes", "size of a learner, at most; beyond it features are evicted"),
    )

    snapshot_events: int = field(
        default=1_000_000,
        metadata=_about("whole number", "take a snapshot after this many events; 0: never", 0),
    )
    snapshot_seconds: float = field(
        default=600.0,
        metadata=_about(
            "seconds", "take a snapshot this long after the last, if changed; 0: never", 0
        ),
    )
    snapshot_keep: int = field(
        default=3,
        metadata=_about(
            "whole number", "newest snapshots kept; the log reaches back to the oldest", 1
        ),
    )
    reconfigure: bool = field(
        default=False,
        metadata=_about("yes or no", "go on with a stored model whose options differ from these"),
    )

    late_label_seconds: float = field(
        default=3600.0,
        metadata=_about("seconds", "how long a ranked instance waits for its label by id", 0),
    )
    late_label_bytes: int = field(
        default=64 * 2**20,
        metadata=_about("bytes", "memory for instances that wait for their label", 0),
    )

    rank_wait_seconds: float = field(
        default=1.0,
        metadata=_about("seconds", "how long a ranking waits for the event it has to have seen", 0),
    )
    max_body_bytes: int = field(
        default=8 * 2**20, metadata=_about("bytes", "largest body of a request", 1024)
    )
    max_batch: int = field(
        default=1000,
        metadata=_about("whole number", "instances or events in one request, at most", 1),
    )
    max_features_per_instance: int = field(
        default=10_000, metadata=_about("whole number", "features of one instance, at most", 1)
    )
    max_buffered_bytes: int = field(
        default=128 * 2**20,
        metadata=_about(
            "bytes", "memory for bodies, unfinished lines and unsent answers, all together", 2048
        ),
    )
    max_connections: int = field(
        default=2000,
        metadata=_about(
            "whole number",
            "connections at once; a further one replaces the longest idle one, or gets 503",
            1,
        ),
    )
    max_concurrent: int = field(
        default=8,
        metadata=_about(
            "whole number", "rankings in work at once; more are refused with 503 and Retry-After", 1
        ),
    )
    max_concurrent_bytes: int = field(
        default=8 * 2**20,
        metadata=_about(
            "bytes", "bodies above 64KiB of rankings in work at once; a single one may have more", 1
        ),
    )
    max_queue_events: int = field(
        default=20_000,
        metadata=_about("whole number", "events that may wait to be learned; more are refused", 1),
    )
    max_queue_bytes: int = field(
        default=64 * 2**20,
        metadata=_about("bytes", "memory for events that wait to be learned", 1024),
    )

    rank_keys: tuple[str, ...] = field(
        default=(), repr=False, metadata=_about("keys", "keys that may rank, separated by commas")
    )
    learn_keys: tuple[str, ...] = field(
        default=(),
        repr=False,
        metadata=_about("keys", "keys that may learn and rank, separated by commas"),
    )
    admin_keys: tuple[str, ...] = field(
        default=(),
        repr=False,
        metadata=_about("keys", "keys that may do everything, separated by commas"),
    )
    allowed_origins: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "origins",
            "web pages that may use the service, by origin: https://app.example, with commas",
        ),
    )
    insecure_open: bool = field(
        default=False,
        metadata=_about("yes or no", "serve without any key on an address others can reach"),
    )

    def __post_init__(self) -> None:
        """Raise SettingError for the first value out of range or at odds with another."""
        for row in TABLE:
            row.check(getattr(self, row.name))
        if self.max_buffered_bytes < 2 * self.max_body_bytes:
            row = _ROWS["max_buffered_bytes"]
            least = _bytes_text(2 * self.max_body_bytes)
            raise SettingError(
                row.variable,
                repr(row.text(self.max_buffered_bytes)),
                f"must be at least twice {_ROWS['max_body_bytes'].variable}, so {least} or more",
            )
        if self.learner is not None:
            self.model_set()
        else:
            self._fit_a_stored_learner()
        if self.without_keys and not self.insecure_open and not _is_loopback(self.host):
            raise SettingError(
                _ROWS["host"].variable,
                repr(self.host),
                "no key is set, so anybody who reaches this address could rank, learn and delete: "
                "set MANYCLASS_RANK_KEYS, MANYCLASS_LEARN_KEYS and MANYCLASS_ADMIN_KEYS, listen on "
                "127.0.0.1, or say MANYCLASS_INSECURE_OPEN=yes",
            )

    @property
    def without_keys(self) -> bool:
        """True when no scope has a key, so that everything is open."""
        return not (self.rank_keys or self.learn_keys or self.admin_keys)

    def options(self, stored: Options | None = None) -> Options:
        """The options of the learner that answers; SettingError when there can be none such.

        They may be given in its specification or each as its own setting. Where no learner is
        named it is the stored one, as it is stored, but for the options that are given. Where one
        is, it has of the stored one the limits that are not given.
        """
        chosen = self._given(OPTIONS)
        try:
            if self.learner is not None:
                options = Options.parse(self.learner, **{**_limits(stored), **chosen})
            elif stored is not None:
                options = replace(stored, **chosen)
            else:
                options = Options.of(DEFAULT_LEARNER, **chosen)
        except OptionError as error:
            raise self._refused(
                error, error.option if error.option in chosen else "learner"
            ) from error
        for name, value in chosen.items():
            if getattr(options, name) != value:
                text = _ROWS[name].text(value)
                message = f"{_ROWS['learner'].variable} says otherwise: {self.learner!r}"
                raise SettingError(_ROWS[name].variable, repr(text), message)
        return options

    def _given(self, names: Iterable[str]) -> dict[str, Any]:
        """The options of these names that are given each as its own setting."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def _fit_a_stored_learner(self) -> None:
        """Raise SettingError for what suits no learner that may be stored; none is named."""
        try:
            check_shadows([Options.parse(each) for each in self.shadows or ()])
        except OptionError as error:
            raise self._refused(error, "shadows") from error
        for learner in LEARNERS:
            try:
                self.options(Options.of(learner, members=_ANY if learner == "committee" else ""))
            except SettingError:
                continue
            return
        self.options()

    def model_set(self, stored: ModelSet | None = None) -> ModelSet:
        """All learners, which are stored with the model; SettingError as `options`.

        Shadows have the limits that their specifications say, or else those that are given, that
        are stored, or that the one that answers has. Where none are named they are the stored ones.
        """
        try:
            answering = self.options(None if stored is None else self._meant(stored))
            return ModelSet(answering, self._shadows(answering, stored))
        except OptionError as error:
            name = "learner" if self.shadows is None else "shadows"
            raise self._refused(error, name) from error

    def _shadows(self, answering: Options, stored: ModelSet | None) -> tuple[Options, ...]:
        given = self._given(LIMITS)
        if self.shadows is None:
            left = () if stored is None else stored.without(answering)
            return tuple(replace(each, **given) for each in left)
        shadows = []
        for specification in self.shadows:
            known = None if stored is None else stored.find(_label(specification))
            limits = {**_limits(known or answering), **given}
            shadows.append(Options.parse(specification, **limits))
        return tuple(shadows)

    def _meant(self, stored: ModelSet) -> Options:
        """The stored learner that the settings are about."""
        if self.learner is not None:
            return stored.find(self.options().specification) or stored.answering
        if self.shadows is not None:
            return stored.beside(tuple(map(Options.parse, self.shadows)))
        given = {name: value for name, value in self._given(OPTIONS).items() if name not in LIMITS}
        if not _has(stored.answering, given):
            for each in stored.shadows:  # it may have answered when it was made with these
                if _has(each, given) and any(
                    value != defaults_of(each.learner)[name] for name, value in given.items()
                ):
                    return each
        return stored.answering

    def shown(self, in_force: ModelSet | None = None) -> dict[str, str]:
        """Variable -> value as text, in the order of the table; keys are only counted.

        `in_force`: the learners of the model. Without, a learner or an option that is not given is
        empty, for it is as it is stored.
        """
        values = {row.name: getattr(self, row.name) for row in TABLE}
        if in_force is not None:
            values |= in_force.answering.to_dict() | {"shadows": tuple(in_force.labels[1:])}
        return {row.variable: row.text(values[row.name]) for row in TABLE}

    def _refused(self, error: OptionError, name: str) -> SettingError:
        """The error as that of the setting `name`."""
        row = _ROWS[name]
        message = str(error)
        if error.option == name:
            message = message.removeprefix(f"{error.option}: ")
        return SettingError(row.variable, repr(row.text(getattr(self, name))), message)


@dataclass(frozen=True, slots=True)
class Row:
    """One setting as people meet it: its names, its help, and how its text is read."""

    name: str  # of the field of Settings
    kind: Kind
    default: Any
    help: str
    least: float | None
    most: float | None

    @property
    def shown_default(self) -> str:
        """The default for people: of an option, the one of every learner it matters to."""
        if self.name == "learner":
            return DEFAULT_LEARNER
        if self.name not in OPTIONS:
            return self.text(self.default)
        texts = {
            self.text(defaults_of(name)[self.name]) for name in LEARNERS if self._matters(name)
        }
        return texts.pop() if len(texts) == 1 else "by learner"

    def default_of(self, learner: str) -> str:
        """The default of an option for this learner, a dash when it has no effect there."""
        return self.text(defaults_of(learner)[self.name]) if self._matters(learner) else "—"

    def _matters(self, learner: str) -> bool:
        return self.name in MATTERS[learner]

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return PREFIX + self.name.upper()

    @property
    def flag(self) -> str:
        """Its name on the command line of `manyclass serve`."""
        return "--" + self.name.replace("_", "-")

    @property
    def allowed(self) -> str:
        """What a value may be, as the end of a sentence that begins with "must be"."""
        nouns = {
            "text": "not empty",
            "URL": "not empty",
            "whole number": "a whole number",
            "number": "a number",
            "seconds": "a number of seconds",
            "bytes": "a number of bytes, as 1048576 or 1MiB",
            "yes or no": "yes or no",
            "keys": "printable ASCII without spaces, keys separated by commas",
            "origins": "origins as https://app.example or http://localhost:3000, without a path,"
            " separated by commas; * and null are refused: any web page could use the service",
            "learner": "a learner, as pa or pa(replay=4)",
            "learners": "learners separated by commas, as ff,pa(replay=4), or none",
        }
        if self.least is not None and self.most is not None:
            return f"{nouns[self.kind]} from {self.least} to {self.most}"
        if self.least is not None:
            return f"{nouns[self.kind]}, at least {self.least}"
        return nouns[self.kind]

    def read(self, text: str) -> Any:
        """The value that `text` stands for; SettingError when it stands for none.

        A learner, shadows or an option left empty are not given: None.
        """
        if self.name in ("learner", "shadows", *OPTIONS) and not text.strip():
            return None
        try:
            value = _READERS[self.kind](text.strip())
        except ValueError:
            raise self._error(text) from None
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise SettingError when the value is out of this setting's range."""
        if value is None:
            return
        if self.kind in ("text", "URL", "learner") and not value:
            raise self._error(value)
        if self.kind == "keys" and not all(map(_is_key, value)):
            raise self._error(HIDDEN)
        if self.kind == "origins" and not all(map(_is_origin, value)):
            raise self._error(self.text(value))
        if self.least is not None and not value >= self.least:
            raise self._error(self.text(value))
        if self.most is not None and not value <= self.most:
            raise self._error(self.text(value))

    def text(self, value: Any) -> str:
        """The value as text that `read` takes; keys are only counted, passwords hidden."""
        if value is None:
            return ""
        if self.kind == "keys":
            return f"{len(value)} {HIDDEN}" if value else ""
        if self.kind == "URL":
            return _without_passwords(value)
        if self.kind == "learners":
            return ",".join(value) or "none"
        if self.kind == "origins":
            return ",".join(value)
        if self.kind == "yes or no":
            return "yes" if value else "no"
        if self.kind == "bytes":
            return _bytes_text(value)
        return str(value).removesuffix(".0") if self.kind in ("number", "seconds") else str(value)

    def _error(self, text: str) -> SettingError:
        shown = HIDDEN if self.kind == "keys" else repr(text)
        return SettingError(self.variable, shown, f"must be {self.allowed}")


def read(environment: Mapping[str, str], overrides: Mapping[str, str] | None = None) -> Settings:
    """The settings that the MANYCLASS_ variables give, and `overrides` (by field name) before them.

    Raises SettingError for a value that cannot be used and for a MANYCLASS_ variable that is not
    a setting: a misspelt limit would otherwise be no limit. Refuses keys without the prefix, which
    would leave the service open.
    """
    rows = {row.variable: row for row in TABLE}
    chosen: dict[str, Any] = {}
    for variable, text in environment.items():
        row = _ROWS.get(variable.lower()) if variable.isupper() else None
        if row is not None and row.kind == "keys" and text:
            raise SettingError(variable, HIDDEN, f"is not read; write {row.variable}")
        if variable.startswith(PREFIX):
            if variable not in rows:
                raise SettingError(variable, HIDDEN, _unknown(variable, list(rows)))
            chosen[rows[variable].name] = rows[variable].read(text)
    for name, text in (overrides or {}).items():
        chosen[name] = _ROWS[name].read(text)
    return Settings(**chosen)


def without_prefix(environment: Mapping[str, str]) -> list[Row]:
    """Return the settings whose name stands in the environment without the prefix only.

    Names of one common word are left out: other programs use PORT or SEED for themselves.
    """
    return [
        row
        for row in TABLE
        if row.name.upper() in environment
        and row.variable not in environment
        and ("_" in row.name or row.name in _OWN_WORDS)
    ]


def markdown() -> str:
    """The page of the documentation that lists every setting."""
    lines = [
        "# Settings",
        "",
        "Each is a variable of the environment and a flag of `manyclass serve`; the flag wins.",
        "`manyclass config` prints what is in force. A variable that begins with `MANYCLASS_` and",
        "is not in this table is an error. Those marked *model* are stored with the model: a start",
        "with other values is refused, with the difference shown, unless `--reconfigure` is given.",
        "Omitted settings keep their stored values: without `MANYCLASS_LEARNER` the stored learner",
        "goes on with its options but for those that are given, without `MANYCLASS_SHADOWS` the",
        "stored shadows do. Which of the learners answers is changed by a promotion only, once",
        "something was learned.",
        "",
        "The prefix is part of each name. A start with `RANK_KEYS`, `LEARN_KEYS` or `ADMIN_KEYS`",
        "in the environment is refused, because the service would be open. Of the other names",
        "without the prefix, a start warns if they have several words (`MAX_BYTES`), and of",
        "`STORE`, `LEARNER` and `SHADOWS`. Other single words, such as `PORT` or `SEED`, are",
        "ignored, since other programs use them.",
        "",
        "| variable | flag | default | what it does |",
        "| --- | --- | --- | --- |",
    ]
    model = {"learner", "shadows", *OPTIONS}
    for row in TABLE:
        default = f"`{row.shown_default}`" if row.shown_default else ""
        if default == "`by learner`":
            default = "[by learner](#defaults-by-learner)"
        help = row.help + (" *(model)*" if row.name in model else "")
        lines.append(f"| `{row.variable}` | `{row.flag}` | {default} | {help} |")
    return "\n".join([*lines, *_defaults_by_learner()]) + "\n"


def _defaults_by_learner() -> list[str]:
    """The section on what depends on the learner."""
    names = [f"`{name}`" for name in LEARNERS]
    lines = [
        "",
        "## Learners and their options",
        "",
        f"`MANYCLASS_LEARNER` is {', '.join(names[:-1])} or {names[-1]},",
        "with options in parentheses if it is to have others than its defaults:",
        "`pa(replay=4,rivals=3)`. An option can also be given by its own setting, for the one",
        "that answers; given in both ways, the values have to be the same. Those of the learners",
        "in `MANYCLASS_SHADOWS` stand in their parentheses. `MANYCLASS_MAX_FEATURES`,",
        "`MANYCLASS_MAX_CLASSES` and `MANYCLASS_MAX_BYTES` hold for each learner by itself, for",
        "shadows and stored learners too. Where they are not given, a learner keeps those it is",
        "stored with, and a new shadow has those of the one that answers. An option that has no",
        "effect on the learner is an error, not ignored.",
        "",
        "### Defaults by learner",
        "",
        "A dash: the option has no effect. The limits above are the same for all.",
        "",
        f"| option | {' | '.join(names)} |",
        f"| --- |{' --- |' * len(names)}",
    ]
    for row in (_ROWS[name] for name in OPTIONS if name not in LIMITS):
        defaults = " | ".join(row.default_of(learner) for learner in LEARNERS)
        lines.append(f"| `{row.name}` | {defaults} |")
    return lines


def _limits(options: Options | None) -> dict[str, Any]:
    return {} if options is None else {name: getattr(options, name) for name in LIMITS}


def _label(specification: str) -> str:
    return Options.parse(specification).specification


def _has(options: Options, given: Mapping[str, Any]) -> bool:
    return all(getattr(options, name) == value for name, value in given.items())


def _unknown(variable: str, known: list[str]) -> str:
    close = get_close_matches(variable, known, n=1)
    return "is not a setting" + (
        f"; did you mean {close[0]}?" if close else "; see docs/settings.md"
    )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name: who can reach it is not ours to guess
        return False


def _is_key(key: str) -> bool:
    return bool(re.fullmatch(r"[!-+\--~]+", key))  # all of printable ASCII but space and comma


def _is_origin(text: str) -> bool:
    """Return whether a browser may send exactly this as Origin."""
    return bool(re.fullmatch(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?", text))


def _without_passwords(url: str) -> str:
    user_hidden = re.sub(r"(//[^:@/]*):.*@", rf"\1:{HIDDEN}@", url)
    return re.sub(r"(password=)[^&]*", rf"\1{HIDDEN}", user_hidden)


def _read_whole(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9][0-9_]*", text):
        raise ValueError(text)
    return int(text)


def _read_number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


_UNITS = {"": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def _read_bytes(text: str) -> int:
    match = re.fullmatch(r"([0-9][0-9_]*) ?([KMG]iB)?", text, re.IGNORECASE)
    if match is None:
        raise ValueError(text)
    return int(match[1]) * _UNITS[(match[2] or "").lower()]


def _bytes_text(value: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value and value % size == 0:
            return f"{value // size}{unit}"
    return str(value)


def _read_yes_or_no(text: str) -> bool:
    if text.lower() in ("yes", "true", "on", "1"):
        return True
    if text.lower() in ("no", "false", "off", "0"):
        return False
    raise ValueError(text)


def _read_keys(text: str) -> tuple[str, ...]:
    return tuple(key.strip() for key in text.split(",")) if text else ()


def _read_origins(text: str) -> tuple[str, ...]:
    return tuple(origin.strip().lower() for origin in text.split(",")) if text else ()


def _read_learners(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(split(text))


_READERS: dict[Kind, Callable[[str], Any]] = {
    "text": str,
    "learner": str,
    "learners": _read_learners,
    "URL": str,
    "whole number": _read_whole,
    "number": _read_number,
    "seconds": _read_number,
    "bytes": _read_bytes,
    "yes or no": _read_yes_or_no,
    "keys": _read_keys,
    "origins": _read_origins,
}

# The options of a learner that have a setting each.
OPTIONS = tuple(
    option.name
    for option in fields(Options)
    if option.name != "learner" and option.name in Settings.__dataclass_fields__
)
TABLE: tuple[Row, ...] = tuple(
    Row(
        name=entry.name,
        kind=entry.metadata["kind"],
        default=entry.default if entry.default is not MISSING else None,
        help=entry.metadata["help"],
        least=entry.metadata["least"],
        most=entry.metadata["most"],
    )
    for entry in fields(Settings)
)
_ROWS = {row.name: row for row in TABLE}
