"""The table of all settings, which feeds the environment, the command line and the docs."""

from collections.abc import Callable, Container, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from ipaddress import ip_address
from typing import Any, Literal, TypeVar

from manyclass.core.errors import OptionError, did_you_mean
from manyclass.core.learners.options import LIMITS
from manyclass.core.learners.registry import DEFAULT_LEARNER, OPTIONS
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.service.config.kinds import (
    ANALYSIS,
    BYTES,
    FLAG,
    HOSTS,
    KEYS,
    LEARNER,
    LEARNERS,
    ORIGINS,
    PATH,
    SECONDS,
    TEXT,
    TITLE,
    URL,
    WHOLE,
    Kind,
    key_parts,
)
from manyclass.service.config.learners import LearnerSettings, limits_of
from manyclass.service.config.links import is_link
from manyclass.service.store.passwords import HIDDEN
from manyclass.service.store.redis.url import is_redis

T = TypeVar("T")
Source = Literal["command line", "environment", "default", "not given"]

PREFIX = "MANYCLASS_"
_OWN_WORDS = ("store", "learner", "shadows")  # without the prefix: data or accuracy would be lost


class SettingError(Exception):
    """An invalid setting: the variable, its value, and the allowed values."""

    def __init__(self, variable: str, value: str, allowed: str) -> None:
        super().__init__(f"{variable}={value}: {allowed}")
        self.variable = variable
        self.value = value
        self.allowed = allowed


def _is(
    kind: Kind, default: Any, help: str, least: float | None = None, most: float | None = None
) -> Any:
    about = {"kind": kind, "help": help, "least": least, "most": most}
    return field(default=default, repr=kind not in (KEYS, URL), metadata=about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The operator's choices; each is valid, and so is their combination."""

    title: str = _is(TITLE, "", "name of the service, which the console shows")
    host: str = _is(TEXT, "127.0.0.1", "address to listen on")
    port: int = _is(WHOLE, 8000, "port to listen on; 0 chooses a free one", 0, 65535)
    store: str = _is(
        URL, "sqlite:./data/manyclass.db", "store: sqlite:PATH, redis://HOST/DB or memory:"
    )
    store_seconds: float = _is(SECONDS, 5.0, "longest wait for a shared store; then 503", 0.1)

    learner: str | None = _is(
        LEARNER, None, "primary learner, which answers, with its options: pa(replay=4)"
    )
    shadows: tuple[str, ...] | None = _is(
        LEARNERS, None, "learners that learn but do not answer, separated by commas, or none"
    )
    text: TextAnalysis | None = _is(  # noqa: RUF009 (makes a field, as for every setting)
        ANALYSIS,
        None,
        "text analysis of a new store: words, with any of +pairs, +characters, +unmarked, +symbols",
    )
    max_features: int | None = _is(WHOLE, None, "limit of a learner's features, then eviction")
    max_classes: int | None = _is(WHOLE, None, "limit of a learner's classes, then eviction")
    max_bytes: int | None = _is(BYTES, None, "limit of a learner's bytes, then features go")

    snapshot_events: int = _is(WHOLE, 1_000_000, "events until the next snapshot; 0: never", 0)
    snapshot_seconds: float = _is(
        SECONDS, 600.0, "time until the next snapshot, if the state changed; 0: never", 0
    )
    snapshot_keep: int = _is(WHOLE, 3, "snapshots to keep; the log reaches back to the oldest", 1)
    history: bool = _is(FLAG, True, "keep past events, to list and correct them and to rebuild")
    history_bytes: int = _is(
        BYTES, 2**30, "largest size of the packed history; beyond it, the oldest events leave", 1
    )
    history_seconds: float = _is(SECONDS, 0.0, "age at which events leave the history; 0: never", 0)
    history_pending_bytes: int = _is(
        BYTES,
        256 * 2**20,
        "events kept in the log while the archive fails; beyond this, some are lost",
        1,
    )
    archive: str | None = _is(
        URL, None, "where a store in Redis keeps its history: file:///PATH or s3://BUCKET/PREFIX"
    )
    rebuild_seconds: float = _is(
        SECONDS, 86400.0, "longest time from a correction to a rebuild; 0: only on request", 0
    )
    reconfigure: bool = _is(FLAG, False, "change a stored model to these learners and options")

    late_label_seconds: float = _is(
        SECONDS, 3600.0, "time for which a ranked instance waits for its label", 0
    )
    late_label_bytes: int = _is(
        BYTES, 64 * 2**20, "memory for ranked instances and texts that wait for a label", 0
    )

    review_items: int = _is(WHOLE, 5000, "instances that wait for review, beyond a restart", 1)
    review_bytes: int = _is(
        BYTES, 64 * 2**20, "bytes of the instances and texts that wait for review", 2**16
    )
    review_seconds: float = _is(
        SECONDS, 30 * 86400.0, "time for which an instance waits for review", 1
    )
    review_stored: bool = _is(
        FLAG,
        True,
        "keep the instances that wait for review in the store, beyond a restart; `no` removes what"
        " is stored",
    )
    review_twice: int = _is(
        WHOLE, 0, "percent of the labelled instances that a second reviewer labels too", 0, 100
    )

    rank_wait_seconds: float = _is(
        SECONDS, 1.0, "longest wait of a ranking for the event of its `min_seq`", 0
    )
    max_body_bytes: int = _is(BYTES, 8 * 2**20, "largest request body", 1024)
    max_batch: int = _is(WHOLE, 1000, "largest number of instances or events in a request", 1)
    max_features_per_instance: int = _is(
        WHOLE, 10_000, "largest number of features of an instance", 1
    )
    max_buffered_bytes: int = _is(
        BYTES, 128 * 2**20, "memory for bodies, unfinished lines and unsent answers", 2048
    )
    max_connections: int = _is(
        WHOLE, 2000, "connections; a further one replaces the longest idle one, or gets 503", 1
    )
    max_concurrent: int = _is(
        WHOLE, 3, "concurrent rankings; further ones use max_burst, then get 503", 1
    )
    max_burst: int = _is(WHOLE, 100, "rankings beyond max_concurrent, at once and per second", 0)
    max_concurrent_bytes: int = _is(
        BYTES, 8 * 2**20, "ranking bodies larger than 64KiB in memory at once", 1
    )
    max_queue_events: int = _is(WHOLE, 20_000, "events in the queue; further ones get 503", 1)
    max_queue_bytes: int = _is(BYTES, 64 * 2**20, "memory for the queue of events", 1024)
    workers: int | None = _is(
        WHOLE, None, "threads for plain requests; by default one per core except one", 0, 256
    )

    rank_keys: tuple[str, ...] = _is(KEYS, (), "keys that may rank, separated by commas")
    learn_keys: tuple[str, ...] = _is(
        KEYS, (), "keys that may learn and rank; NAME:KEY names the person of a key"
    )
    admin_keys: tuple[str, ...] = _is(KEYS, (), "keys that may do everything")
    allowed_origins: tuple[str, ...] = _is(
        ORIGINS,
        (),
        "origins of web pages that may use the service: https://app.example, separated by commas",
    )
    allowed_hosts: tuple[str, ...] = _is(
        HOSTS, (), "names allowed in Host besides localhost, separated by commas; empty: all"
    )
    root_path: str = _is(PATH, "", "path prefix of the service behind a proxy: /manyclass")
    forwarded_prefix: bool = _is(
        FLAG, False, "read the path prefix from X-Forwarded-Prefix, which the proxy always sets"
    )
    insecure_open: bool = _is(FLAG, False, "serve without keys on an address others can reach")

    given: Mapping[str, Source] = field(  # the settings chosen by the operator, with their source
        default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Raise SettingError for the first value that is out of range or contradicts another."""
        for row in TABLE:
            row.check(getattr(self, row.name))
        if self.max_buffered_bytes < 2 * self.max_body_bytes:
            row = ROWS["max_buffered_bytes"]
            least = row.text(2 * self.max_body_bytes)
            raise SettingError(
                self._named(row),
                repr(row.text(self.max_buffered_bytes)),
                f"must be at least twice {self._named(ROWS['max_body_bytes'])}, so {least} or more",
            )
        if self.archive is not None and not is_redis(self.store):
            row = ROWS["archive"]
            raise SettingError(
                self._named(row),
                repr(row.text(self.archive)),
                "is for a store in Redis; other stores keep the history themselves",
            )
        self._of_learners(LearnerSettings.check)
        self._check_key_names()
        if self.without_keys and not self.insecure_open and not _is_loopback(self.host):
            raise SettingError(
                self._named(ROWS["host"]),
                repr(self.host),
                "no key is set, so every client that reaches this address could rank, learn and"
                " delete: set MANYCLASS_RANK_KEYS, MANYCLASS_LEARN_KEYS and MANYCLASS_ADMIN_KEYS,"
                " listen on 127.0.0.1, or set MANYCLASS_INSECURE_OPEN=yes",
            )

    def _check_key_names(self) -> None:
        """Raise SettingError if one key has two names: whose label would it give?"""
        names: dict[str, str] = {}
        for row in (ROWS["rank_keys"], ROWS["learn_keys"], ROWS["admin_keys"]):
            for name, secret in map(key_parts, getattr(self, row.name)):
                if names.setdefault(secret, name) != name:
                    one, other = (each or "nobody" for each in (names[secret], name))
                    raise SettingError(
                        self._named(row),
                        repr(row.text(getattr(self, row.name))),
                        f"has the same key for {one} and for {other}: give each name a key of its"
                        " own, as in anna:KEY-1,ben:KEY-2",
                    )

    @property
    def without_keys(self) -> bool:
        """True if no scope has a key, so that every route is open."""
        return not (self.rank_keys or self.learn_keys or self.admin_keys)

    def model_set(self, stored: ModelSet | None = None) -> ModelSet:
        """Return the initial learners, from the settings and `stored`. Raises SettingError."""
        return self._of_learners(lambda settings: settings.model_set(stored))

    def check_text(self, stored: TextAnalysis) -> None:
        """Raise SettingError if the text analysis of the settings differs from the store's."""
        row = ROWS["text"]
        name = self._named(row)
        if self.text not in (None, stored):
            raise SettingError(
                name,
                repr(row.text(self.text)),
                f"the store has learned with {stored}, and another text analysis makes other"
                f" features: start with {name}={stored} or without it; `manyclass rebuild --text"
                f" {self.text}` then changes the store to {self.text}, if its history reaches back"
                " to the first event",
            )

    def source(self, row: "Row", text: TextAnalysis | None = None) -> Source:
        """Return the source of a setting's value; `text` is the text analysis of the model.

        After a rebuild or a restore, the model may have another analysis than the setting.
        """
        is_empty = getattr(self, row.name) is None
        if row.name == "text" and text not in (None, self.text):
            return "not given"
        return self.given.get(row.name, "not given" if is_empty else "default")

    def _of_learners(self, use: Callable[[LearnerSettings], T]) -> T:
        """Return the result of `use`. Raises SettingError instead of an OptionError."""
        limits = {name: getattr(self, name) for name in LIMITS}
        given = {name: value for name, value in limits.items() if value is not None}
        try:
            return use(LearnerSettings(self.learner, self.shadows, given))
        except OptionError as error:
            row = ROWS[error.option]
            message = str(error).removeprefix(f"{error.option}: ")
            value = repr(row.text(getattr(self, row.name)))
            raise SettingError(self._named(row), value, message) from error

    def _named(self, row: "Row") -> str:
        """Return the option of a setting given on the command line, else its variable."""
        return row.flag if self.given.get(row.name) == "command line" else row.variable

    def shown(self, in_force: Model | None = None) -> dict[str, str]:
        """Return variable -> value as text, in the order of the table. Keys are counted, not shown.

        Without `in_force`, the model in use, omitted settings of the model are empty because they
        keep their stored values.
        """
        values = {row.name: getattr(self, row.name) for row in TABLE}
        if in_force is not None:
            learner, *shadows = in_force.model_set.labels
            values |= limits_of(in_force.options)
            values |= {"learner": learner, "shadows": shadows, "text": in_force.text}
        return {row.variable: row.text(values[row.name]) for row in TABLE}


class Row:
    """The text form of a setting: its names, its help, and its parser."""

    def __init__(self, declared: "Field[Any]") -> None:
        self.name = declared.name
        self.default = None if declared.default is MISSING else declared.default
        self.kind: Kind = declared.metadata["kind"]
        self.help: str = declared.metadata["help"]
        self._least: float | None = declared.metadata["least"]
        self._most: float | None = declared.metadata["most"]
        self.variable = PREFIX + self.name.upper()
        self.flag = "--" + self.name.replace("_", "-")
        self.is_of_model = self.name in (
            "learner",
            "shadows",
            "text",
            *LIMITS,
        )  # stored with the model

    @property
    def shown_default(self) -> str:
        """The default as text; for a limit, the default of every learner."""
        if self.name == "learner":
            return DEFAULT_LEARNER
        if self.name == "text":
            return str(DEFAULT_TEXT)
        return self.text(OPTIONS[self.name].default if self.name in LIMITS else self.default)

    @property
    def allowed(self) -> str:
        """The values allowed, as the end of a sentence that begins with "must be"."""
        if self._most is not None:
            return f"{self.kind.allowed} from {self._least} to {self._most}"
        least = "" if self._least is None else f", at least {self._least}"
        return self.kind.allowed + least

    def read(self, text: str, given_as: str | None = None) -> Any:
        """Return the value of a text, or None for an empty text if None is the default.

        Raises SettingError, which names the variable, or `given_as`.
        """
        if self.default is None and not text.strip():
            return None
        try:
            value = self.kind.read(text.strip())
        except ValueError:
            raise self._error(text, given_as, self.allowed) from None
        self.check(value, given_as)
        return value

    def check(self, value: Any, given_as: str | None = None) -> None:
        """Raise SettingError when the value is out of this setting's range."""
        if value is None:
            return
        too_small = self._least is not None and not value >= self._least
        too_large = self._most is not None and not value <= self._most
        if too_small or too_large or not self.kind.is_valid(value):
            raise self._error(self.text(value), given_as, self.allowed)

    def text(self, value: Any) -> str:
        """Return the value as text that `read` takes; keys are counted, passwords hidden."""
        return "" if value is None else self.kind.write(value)

    def _error(self, text: str, given_as: str | None, allowed: str) -> SettingError:
        shown = HIDDEN if self.kind.is_secret else repr(text)
        return SettingError(given_as or self.variable, shown, f"must be {allowed}")


def read(environment: Mapping[str, str], overrides: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of the MANYCLASS_ variables; `overrides`, by field name, win over them.

    Raises SettingError for an invalid value, and for a MANYCLASS_ variable whose name is close to a
    setting, because a misspelt limit would have no effect; `not_read` lists other unknown names.
    Also refuses keys without the prefix, which would leave the service open.
    """
    chosen: dict[str, Any] = {}
    given: dict[str, Source] = {}
    for variable, text in environment.items():
        row = ROWS.get(variable.lower()) if variable.isupper() else None
        if row is not None and row.kind.is_secret and text:
            raise SettingError(variable, HIDDEN, f"is ignored; write {row.variable}")
        if not variable.startswith(PREFIX) or is_link(variable.removeprefix(PREFIX), text):
            continue
        name = variable.removeprefix(PREFIX).lower()
        if variable == variable.upper() and name in ROWS:
            chosen[name], given[name] = ROWS[name].read(text), "environment"
        elif suggestion := _suggestion(variable):
            raise SettingError(variable, HIDDEN, f"is not a setting; {suggestion}")
    for name, text in (overrides or {}).items():
        chosen[name] = ROWS[name].read(text, ROWS[name].flag)
        given[name] = "command line"
    return Settings(**chosen, given=given)


def not_read(environment: Mapping[str, str], overrides: Container[str] = ()) -> list[str]:
    """Return a sentence about each variable that `read` ignores although it may be meant for it.

    `overrides` are the fields set on the command line. Single common words without the prefix are
    left out, because other programs use PORT or HOST.
    """
    ours = {
        variable: variable.removeprefix(PREFIX)
        for variable in environment
        if variable.startswith(PREFIX)
    }
    links = [each for each, name in ours.items() if is_link(name, environment[each])]
    told = [
        f"{row.name.upper()} is ignored; the name of the setting is {row.variable}"
        for row in TABLE
        if row.name.upper() in environment
        and row.variable not in environment
        and row.name not in overrides
        and ("_" in row.name or row.name in _OWN_WORDS)
    ]
    told += [
        f"{variable} is ignored: there is no such setting; docs/settings.md lists all names"
        for variable, name in ours.items()
        if variable not in links and name.lower() not in ROWS
    ]
    if links:
        told.append(
            "ignored, because Kubernetes or Docker sets them for a container of this name:"
            f" {', '.join(sorted(links))}"
        )
    return told


def _suggestion(variable: str) -> str:
    """Return a question about the setting that may be meant, or an empty text."""
    # Compare without the prefix, which makes all variables similar.
    known = {row.name.upper(): row.variable for row in TABLE}
    return did_you_mean(variable.removeprefix(PREFIX).upper(), known).replace("`", "")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name, whose address is unknown
        return False


TABLE: tuple[Row, ...] = tuple(Row(each) for each in fields(Settings) if each.metadata)
ROWS = {row.name: row for row in TABLE}
