"""Every setting of the service in one table, which feeds environment, command line and docs."""

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
    URL,
    WHOLE,
    Kind,
)
from manyclass.service.config.learners import LearnerSettings, limits_of
from manyclass.service.config.links import is_link
from manyclass.service.store.passwords import HIDDEN
from manyclass.service.store.redis.url import is_redis

T = TypeVar("T")
Source = Literal["command line", "environment", "default", "not given"]

PREFIX = "MANYCLASS_"
_OWN_WORDS = ("store", "learner", "shadows")  # a forgotten prefix would cost data or accuracy


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
    """The operator's choices, valid by themselves and together."""

    host: str = _is(TEXT, "127.0.0.1", "address to listen on")
    port: int = _is(WHOLE, 8000, "port to listen on; 0 takes a free one", 0, 65535)
    store: str = _is(
        URL, "sqlite:./data/manyclass.db", "store: sqlite:PATH, redis://HOST/DB or memory:"
    )
    store_seconds: float = _is(SECONDS, 5.0, "longest wait for a shared store, then 503", 0.1)

    learner: str | None = _is(LEARNER, None, "learner that answers, with its options: pa(replay=4)")
    shadows: tuple[str, ...] | None = _is(
        LEARNERS, None, "learners that learn and do not answer, separated by commas, or none"
    )
    text: TextAnalysis | None = _is(  # noqa: RUF009 (makes a field, as for every setting)
        ANALYSIS,
        None,
        "how texts become features, of a new store: words, with any of +pairs, +characters,"
        " +unmarked, +symbols",
    )
    max_features: int | None = _is(WHOLE, None, "features of a learner; beyond, some are evicted")
    max_classes: int | None = _is(WHOLE, None, "classes of a learner; beyond, some are evicted")
    max_bytes: int | None = _is(BYTES, None, "bytes of a learner; beyond, features are evicted")

    snapshot_events: int = _is(WHOLE, 1_000_000, "events until the next snapshot; 0: never", 0)
    snapshot_seconds: float = _is(SECONDS, 600.0, "time until the next, if changed; 0: never", 0)
    snapshot_keep: int = _is(WHOLE, 3, "snapshots kept; the log reaches back to the oldest", 1)
    history: bool = _is(FLAG, True, "keep the events behind the log: to list, correct, learn again")
    history_bytes: int = _is(BYTES, 2**30, "history kept, packed; beyond, the oldest goes", 1)
    history_seconds: float = _is(
        SECONDS, 0.0, "age from which events leave the history; 0: never", 0
    )
    history_pending_bytes: int = _is(
        BYTES, 256 * 2**20, "events kept in the log if the archive fails; beyond, some are lost", 1
    )
    archive: str | None = _is(
        URL, None, "where a store in Redis keeps its history: file:///PATH or s3://BUCKET/PREFIX"
    )
    rebuild_seconds: float = _is(
        SECONDS, 86400.0, "time from a correction until all is learned again; 0: on request", 0
    )
    reconfigure: bool = _is(FLAG, False, "give a stored model these learners and options")

    late_label_seconds: float = _is(SECONDS, 3600.0, "how long a ranking waits for its label", 0)
    late_label_bytes: int = _is(
        BYTES, 64 * 2**20, "memory for instances and texts without their label", 0
    )

    rank_wait_seconds: float = _is(
        SECONDS, 1.0, "longest time that a ranking waits for the event of its `min_seq`", 0
    )
    max_body_bytes: int = _is(BYTES, 8 * 2**20, "largest body of a request", 1024)
    max_batch: int = _is(WHOLE, 1000, "instances or events in one request, at most", 1)
    max_features_per_instance: int = _is(WHOLE, 10_000, "features of one instance, at most", 1)
    max_buffered_bytes: int = _is(
        BYTES, 128 * 2**20, "memory for bodies, unfinished lines and unsent answers", 2048
    )
    max_connections: int = _is(
        WHOLE, 2000, "connections; one more closes the longest idle one, or gets 503", 1
    )
    max_concurrent: int = _is(WHOLE, 3, "rankings at once; beyond a burst, 503 and Retry-After", 1)
    max_burst: int = _is(WHOLE, 100, "rankings above max_concurrent in a burst, and in a second", 0)
    max_concurrent_bytes: int = _is(BYTES, 8 * 2**20, "bodies above 64KiB of rankings at once", 1)
    max_queue_events: int = _is(WHOLE, 20_000, "events in the queue; more are refused", 1)
    max_queue_bytes: int = _is(BYTES, 64 * 2**20, "memory for the queue of events", 1024)
    workers: int | None = _is(
        WHOLE, None, "threads that answer plain requests; usually the cores less one", 0, 256
    )

    rank_keys: tuple[str, ...] = _is(KEYS, (), "keys that may rank, separated by commas")
    learn_keys: tuple[str, ...] = _is(KEYS, (), "keys that may learn and rank")
    admin_keys: tuple[str, ...] = _is(KEYS, (), "keys that may do everything")
    allowed_origins: tuple[str, ...] = _is(
        ORIGINS, (), "web pages that may use the service: https://app.example, with commas"
    )
    allowed_hosts: tuple[str, ...] = _is(
        HOSTS, (), "names in Host that are answered beside localhost, with commas; empty: all"
    )
    root_path: str = _is(PATH, "", "path of a proxy below which clients reach it: /manyclass")
    forwarded_prefix: bool = _is(
        FLAG, False, "take that path from X-Forwarded-Prefix, which the proxy always sets"
    )
    insecure_open: bool = _is(FLAG, False, "serve without keys on an address others can reach")

    given: Mapping[str, Source] = field(  # the fields that were chosen, not left to a default
        default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Raise SettingError for the first value out of range or at odds with another."""
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
        if self.without_keys and not self.insecure_open and not _is_loopback(self.host):
            raise SettingError(
                self._named(ROWS["host"]),
                repr(self.host),
                "no key is set, so every client that reaches this address could rank, learn and"
                " delete: set MANYCLASS_RANK_KEYS, MANYCLASS_LEARN_KEYS and MANYCLASS_ADMIN_KEYS,"
                " listen on 127.0.0.1, or set MANYCLASS_INSECURE_OPEN=yes",
            )

    @property
    def without_keys(self) -> bool:
        """True if no scope has a key, so that every route is open."""
        return not (self.rank_keys or self.learn_keys or self.admin_keys)

    def model_set(self, stored: ModelSet | None = None) -> ModelSet:
        """Return the learners to start with, from the settings and `stored`; SettingError."""
        return self._of_learners(lambda settings: settings.model_set(stored))

    def check_text(self, stored: TextAnalysis) -> None:
        """Raise SettingError if another analysis of texts is set than that of the store."""
        row = ROWS["text"]
        name = self._named(row)
        if self.text not in (None, stored):
            raise SettingError(
                name,
                repr(row.text(self.text)),
                f"the store has learned by {stored}, and another analysis makes other features:"
                f" start with {name}={stored} or without it; `manyclass rebuild --text"
                f" {self.text}` then teaches its history by {self.text}, if the history reaches"
                " back to the first event",
            )

    def source(self, row: "Row", text: TextAnalysis | None = None) -> Source:
        """Return where the value of a setting comes from; `text` is the analysis of the model.

        After a rebuild or a restore it may be another one than was given.
        """
        is_empty = getattr(self, row.name) is None
        if row.name == "text" and text not in (None, self.text):
            return "not given"
        return self.given.get(row.name, "not given" if is_empty else "default")

    def _of_learners(self, use: Callable[[LearnerSettings], T]) -> T:
        """Use the settings about learners; an OptionError becomes a SettingError."""
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
        """Return the name by which a setting was given: its option, or else its variable."""
        return row.flag if self.given.get(row.name) == "command line" else row.variable

    def shown(self, in_force: Model | None = None) -> dict[str, str]:
        """Return variable -> value as text, in the order of the table; keys are only counted.

        `in_force`: the model in use. Without it, omitted settings of the model are empty,
        because they keep their stored values.
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
        """Return the value of a text, None for an empty one if that is the default.

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
        """Return the value as text that `read` takes; keys are only counted, passwords hidden."""
        return "" if value is None else self.kind.write(value)

    def _error(self, text: str, given_as: str | None, allowed: str) -> SettingError:
        shown = HIDDEN if self.kind.is_secret else repr(text)
        return SettingError(given_as or self.variable, shown, f"must be {allowed}")


def read(environment: Mapping[str, str], overrides: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of the MANYCLASS_ variables, `overrides` (by field name) before them.

    Raises SettingError for a value that cannot be used and for a MANYCLASS_ variable whose name is
    close to a setting, since a misspelt limit would not be one; `not_read` has the others. Refuses
    keys without the prefix, which would leave the service open.
    """
    chosen: dict[str, Any] = {}
    given: dict[str, Source] = {}
    for variable, text in environment.items():
        row = ROWS.get(variable.lower()) if variable.isupper() else None
        if row is not None and row.kind.is_secret and text:
            raise SettingError(variable, HIDDEN, f"is not read; write {row.variable}")
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
    """Return a sentence about each variable that `read` leaves alone and may be meant for it.

    `overrides` are the fields that the command line gave. Names of one common word without the
    prefix are left out: other programs use PORT or HOST.
    """
    ours = {
        variable: variable.removeprefix(PREFIX)
        for variable in environment
        if variable.startswith(PREFIX)
    }
    links = [each for each, name in ours.items() if is_link(name, environment[each])]
    told = [
        f"{row.name.upper()} is not read; the name is {row.variable}"
        for row in TABLE
        if row.name.upper() in environment
        and row.variable not in environment
        and row.name not in overrides
        and ("_" in row.name or row.name in _OWN_WORDS)
    ]
    told += [
        f"{variable} is not a setting and not read; docs/settings.md has all names"
        for variable, name in ours.items()
        if variable not in links and name.lower() not in ROWS
    ]
    if links:
        told.append(
            "not read, since Kubernetes or Docker sets them for a container of this name:"
            f" {', '.join(sorted(links))}"
        )
    return told


def _suggestion(variable: str) -> str:
    """Return a question about the setting that is meant, empty if no name is close."""
    # Without the prefix, which makes every two variables alike.
    known = {row.name.upper(): row.variable for row in TABLE}
    return did_you_mean(variable.removeprefix(PREFIX).upper(), known).replace("`", "")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name: its network is unknown
        return False


TABLE: tuple[Row, ...] = tuple(Row(each) for each in fields(Settings) if each.metadata)
ROWS = {row.name: row for row in TABLE}
