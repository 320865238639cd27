"""A typed client of a running service, whose retries never teach it an event twice."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import count
from math import isfinite
from secrets import token_hex
from types import TracebackType
from typing import IO, Self, TypedDict, TypeVar
from urllib.parse import quote

import httpx
import msgspec

DEFAULT_URL = "http://127.0.0.1:8000"
FIRST_WAIT = 0.1  # seconds before the second try; doubled from try to try
LONGEST_WAIT = 5.0  # unless the service asks for more

Features = Mapping[str, float] | Sequence[str | int]


class InstanceBody(TypedDict, total=False):
    """An instance as the service takes it: exactly one of `features` and `text`."""

    features: Features
    text: str
    id: str


class EventBody(InstanceBody, total=False):
    """What to learn: an instance, or the `id` of one that was ranked, and its true classes."""

    classes: Sequence[str | int]
    event_id: str


# --- answers -------------------------------------------------------------------------------------


class Vote(msgspec.Struct, frozen=True):
    """A feature that voted for a class, and what it gave; less than 0 if it voted against it."""

    feature: str
    score: float


class PathNode(msgspec.Struct, frozen=True):
    """A node on the path to a class in a label tree: how many classes it holds, its probability
    given the node above it, and what moved that, in log-odds; `bias` always does."""

    classes: int
    probability: float
    bias: float
    features: tuple[Vote, ...]


class RankedClass(msgspec.Struct, frozen=True, omit_defaults=True):
    """A class with its score, which may be negative. When the request asked to explain, `features`
    says why, and `path` has the nodes below the root down to it if a label tree answers."""

    name: str = msgspec.field(name="class")
    score: float
    features: tuple[Vote, ...] = ()
    path: tuple[PathNode, ...] = ()


class InstanceWarning(msgspec.Struct, frozen=True):
    """An instance without features, at a JSON pointer into the request."""

    detail: str
    pointer: str


class Ranking(msgspec.Struct, frozen=True):
    """The classes of one instance, best first. `id` refers to it when its label comes later.

    `confidence` is the probability that the first class is right, None while it is not known;
    `withheld` says that it was below the one asked for, and so nothing is ranked.
    """

    id: str
    ranked: tuple[RankedClass, ...]
    confidence: float | None = None
    withheld: bool = False
    warnings: tuple[InstanceWarning, ...] = ()


class Rankings(msgspec.Struct, frozen=True):
    """A ranking for each instance, in order. `seq` numbers the last event they have seen."""

    seq: int
    results: tuple[Ranking, ...]
    warnings: tuple[InstanceWarning, ...] = ()


class Learned(msgspec.Struct, frozen=True):
    """One event, durable and learned. `rank` is where the best true class stood before."""

    seq: int
    accepted: int
    duplicates: int
    rank: int | None
    updated: bool
    warnings: tuple[InstanceWarning, ...] = ()


class LearnedMany(msgspec.Struct, frozen=True):
    """Events, durable and learned. A rank is None when not retrieved, and for a duplicate."""

    seq: int
    accepted: int
    duplicates: int
    ranks: tuple[int | None, ...]
    warnings: tuple[InstanceWarning, ...] = ()


class ClassCount(msgspec.Struct, frozen=True):
    """A class and how many events named it."""

    name: str = msgspec.field(name="class")
    learned: int


class FeatureWeight(msgspec.Struct, frozen=True):
    """A feature and the weight of its edge to the class."""

    feature: str
    weight: float


class ClassDetail(msgspec.Struct, frozen=True):
    """A class, and the features with an edge to it, heaviest first."""

    name: str = msgspec.field(name="class")
    learned: int
    features: tuple[FeatureWeight, ...]


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
    """A stored state: everything up to and with event `seq`. `taken_at` is in unix seconds."""

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


class ReliabilityBin(msgspec.Struct, frozen=True):
    """Outcomes of about the same confidence: its mean, and the share that was right."""

    outcomes: int
    confidence: float | None
    right: float | None


class Confidence(msgspec.Struct, frozen=True):
    """What a learner's confidence is worth, over the last 10,000 outcomes.

    None before there was any; `reliability` is by ten bins of confidence, of equal width.
    """

    calibration_error: float | None
    brier: float | None
    reliability: tuple[ReliabilityBin, ...]


class Learner(msgspec.Struct, frozen=True):
    """A learner under its specification: what it holds, and how well it does.

    `role` is "answers" or "shadow". `learn_seconds` is the mean time to learn an event, since the
    process began; None before the first. `accuracy` is by the number of events looked back on.
    """

    label: str = msgspec.field(name="learner")
    role: str
    options: dict[str, bool | int | float | str]
    features: int
    classes: int
    edges: int
    learned: int
    bytes: int
    learn_seconds: float | None
    accuracy: dict[str, Accuracy]
    confidence: Confidence | None = None  # of a service that has none


class Stats(msgspec.Struct, frozen=True):
    """What the service holds and how well it does.

    `accuracy` is by the number of events looked back on; `durability` is what an answer of /learn
    promises, for people.
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


class _ClassPage(msgspec.Struct, frozen=True):
    classes: tuple[ClassCount, ...]
    next: str | None


class _Snapshots(msgspec.Struct, frozen=True):
    snapshots: tuple[Snapshot, ...]


class _Learners(msgspec.Struct, frozen=True):
    learners: tuple[Learner, ...]


class _Seq(msgspec.Struct, frozen=True):
    seq: int


# --- errors --------------------------------------------------------------------------------------


class Fault(msgspec.Struct, frozen=True):
    """One thing wrong with a request: where in the body, or in which parameter."""

    detail: str = ""
    pointer: str = ""
    parameter: str = ""


class _Problem(msgspec.Struct, frozen=True):
    title: str = ""
    detail: str = ""
    errors: tuple[Fault, ...] = ()


class ClientError(Exception):
    """Base of what goes wrong between this client and the service."""


class ServiceUnreachable(ClientError):
    """No answer came from `url`. Whether the request arrived is not known."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"no answer from {url}: {reason}")
        self.url = url
        self.reason = reason


class RequestRefused(ClientError):
    """The service answered with an error; `retry_after` in seconds where it said so."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        faults: tuple[Fault, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        places = ", ".join(fault.pointer or fault.parameter for fault in faults)
        said = (f": {detail}" if detail else "") + (f" ({places})" if places else "")
        super().__init__(f"{status} {title}{said}")
        self.status = status
        self.title = title
        self.detail = detail
        self.faults = faults
        self.retry_after = retry_after


# --- the client ----------------------------------------------------------------------------------

Answer = TypeVar("Answer")


class Client:
    """Calls a service at `url`. Belongs to one thread.

    A request that was refused as too much or too early (429, 503) is sent again after the time the
    service asks for; one whose answer was lost only when a second one does no harm: ranking and
    reading change nothing, and learning carries event ids, made here where the caller gives none.
    It gives up when the waits of a request would add up to more than `patience` seconds. A service
    that has not answered once is not waited for.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str | None = None,
        *,
        patience: float = 30.0,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.url = url.rstrip("/")
        self._patience = patience
        self._sleep = sleep
        self._answered = False
        self._numbers = count(1)
        self._prefix = token_hex(8)
        self._http = httpx.Client(headers=headers, timeout=timeout, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    # --- rank and learn ---------------------------------------------------------------------------

    def rank(
        self,
        instance: InstanceBody,
        *,
        k: int = 5,
        threshold: float | None = None,
        min_confidence: float | None = None,
        explain: bool = False,
        min_seq: int = 0,
    ) -> Ranking:
        """The k best classes of an instance, by a process that has seen event `min_seq`.

        Only scores above `threshold`; None: whatever the learner retrieves. With `min_confidence`,
        a ranking that is less sure, or of unknown confidence, is withheld. ValueError for a
        `threshold` that is not finite, and a `min_confidence` that is not 0 to 1.
        """
        how = _how(k, threshold, min_confidence, explain, min_seq)
        return self._post("/rank", {**instance, **how}, Ranking)

    def rank_many(
        self,
        instances: Sequence[InstanceBody],
        *,
        k: int = 5,
        threshold: float | None = None,
        min_confidence: float | None = None,
        explain: bool = False,
        min_seq: int = 0,
    ) -> Rankings:
        """The k best classes of each instance, in order, as `rank` has it."""
        how = _how(k, threshold, min_confidence, explain, min_seq)
        return self._post("/rank", {"instances": instances, **how}, Rankings)

    def learn(self, event: EventBody) -> Learned:
        """Teach one event; it is durable when this returns."""
        return self._post("/learn", self._named(event), Learned)

    def learn_many(self, events: Sequence[EventBody]) -> LearnedMany:
        """Teach events in order, all or none; they are durable when this returns."""
        return self._post("/learn", {"events": [*map(self._named, events)]}, LearnedMany)

    # --- what it knows ----------------------------------------------------------------------------

    def classes(self, prefix: str = "", page: int = 100) -> Iterator[ClassCount]:
        """Every class whose name begins with `prefix`, fetched `page` at a time."""
        parameters: dict[str, str | int] = {"prefix": prefix, "limit": page}
        while True:
            answer = self._get("/classes", _ClassPage, parameters)
            yield from answer.classes
            if answer.next is None:
                return
            parameters["after"] = answer.next

    def class_(self, name: str, limit: int = 100) -> ClassDetail:
        """A class and the features that vote heaviest for it; 404 when it was never learned."""
        return self._get(_path("classes", name), ClassDetail, {"limit": limit})

    def feature(self, name: str) -> FeatureDetail:
        """A feature and the classes it votes for; 404 when it was never learned."""
        return self._get(_path("features", name), FeatureDetail)

    def forget_class(self, name: str) -> int:
        """Forget a class; the number of the event that did."""
        return self._ask("DELETE", _path("classes", name), _Seq).seq

    def forget_feature(self, name: str) -> int:
        """Forget a feature; the number of the event that did."""
        return self._ask("DELETE", _path("features", name), _Seq).seq

    def stats(self) -> Stats:
        """Sizes, accuracy and the settings in force."""
        return self._get("/stats", Stats)

    # --- operation --------------------------------------------------------------------------------

    def learners(self) -> tuple[Learner, ...]:
        """The learners there are, the one that answers first."""
        return self._get("/learners", _Learners).learners

    def promote(self, label: str) -> int:
        """Let a learner answer from here on; the number of the event that did."""
        return self._ask("POST", _path("learners", label) + "/promote", _Seq).seq

    def snapshots(self) -> tuple[Snapshot, ...]:
        """The snapshots there are, newest first."""
        return self._get("/snapshots", _Snapshots).snapshots

    def take_snapshot(self) -> Snapshot:
        """Store the state as it is now."""
        return self._ask("POST", "/snapshots", Snapshot, repeatable=True)

    def save_state(self, file: IO[bytes]) -> int:
        """Write the state as it is now to a file; how many bytes that took.

        ServiceUnreachable when it did not come to its end: then the file holds a part of it.
        """
        size = 0
        try:
            with self._http.stream("GET", self.url + "/state") as response:
                if not response.is_success:
                    response.read()
                    raise _refusal(response)
                for piece in response.iter_bytes():
                    size += file.write(piece)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ServiceUnreachable(self.url, str(error) or type(error).__name__) from error
        return size

    def restore(self, seq: int) -> int:
        """Go back to the snapshot taken at `seq`; the number of the event that did."""
        return self._ask("POST", f"/snapshots/{seq}/restore", _Seq).seq

    def is_ready(self) -> bool:
        """Whether the service answers and can learn; asked once, never waited for."""
        try:
            response = self._http.get(self.url + "/readyz")
        except httpx.TransportError:
            return False
        return response.status_code == HTTPStatus.OK

    # --- one request ------------------------------------------------------------------------------

    def _named(self, event: EventBody) -> EventBody:
        """The event under an id of its own, so that a retry of it is a duplicate."""
        if "event_id" in event:
            return event
        return {**event, "event_id": f"{self._prefix}-{next(self._numbers)}"}

    def _get(
        self,
        path: str,
        answer: type[Answer],
        parameters: Mapping[str, str | int] | None = None,
    ) -> Answer:
        return self._ask("GET", path, answer, parameters=parameters, repeatable=True)

    def _post(self, path: str, body: object, answer: type[Answer]) -> Answer:
        content = msgspec.json.encode(body)
        return self._ask("POST", path, answer, content=content, repeatable=True)

    def _ask(
        self,
        method: str,
        path: str,
        answer: type[Answer],
        *,
        content: bytes | None = None,
        parameters: Mapping[str, str | int] | None = None,
        repeatable: bool = False,
    ) -> Answer:
        """The answer to a request, sent again where that is safe and worth it.

        `repeatable`: the request may arrive twice without harm.
        """
        waited = 0.0
        wait = FIRST_WAIT
        while True:
            try:
                response = self._send(method, path, content, parameters)
                if response.is_success:
                    return self._decoded(response, answer)
                raise _refusal(response)
            except ClientError as error:
                wait = max(wait, getattr(error, "retry_after", None) or 0.0)
                if not self._worth_again(error, repeatable) or waited + wait > self._patience:
                    raise
            self._sleep(wait)
            waited += wait
            wait = min(2 * wait, LONGEST_WAIT)

    def _send(
        self,
        method: str,
        path: str,
        content: bytes | None,
        parameters: Mapping[str, str | int] | None,
    ) -> httpx.Response:
        headers = {"Content-Type": "application/json"} if content is not None else {}
        try:
            response = self._http.request(
                method, self.url + path, content=content, params=parameters, headers=headers
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ServiceUnreachable(self.url, str(error) or type(error).__name__) from error
        self._answered = True
        return response

    def _decoded(self, response: httpx.Response, answer: type[Answer]) -> Answer:
        try:
            return msgspec.json.decode(response.content, type=answer)
        except msgspec.DecodeError as error:
            raise ServiceUnreachable(self.url, f"not an answer of this service: {error}") from error

    def _worth_again(self, error: ClientError, repeatable: bool) -> bool:
        match error:
            case RequestRefused(status=HTTPStatus.TOO_MANY_REQUESTS):
                return True
            case RequestRefused(status=HTTPStatus.SERVICE_UNAVAILABLE):
                return True
            case RequestRefused(status=HTTPStatus.BAD_GATEWAY | HTTPStatus.GATEWAY_TIMEOUT):
                return repeatable
            case ServiceUnreachable(__cause__=httpx.ConnectError() | httpx.ConnectTimeout()):
                return self._answered  # nothing was sent
            case ServiceUnreachable(__cause__=httpx.TransportError()):
                return self._answered and repeatable
        return False


def _how(
    k: int, threshold: float | None, min_confidence: float | None, explain: bool, min_seq: int
) -> dict[str, object]:
    """What a request to rank says beside the instances.

    JSON has no number for what is not finite; sent as null, it would let everything through.
    """
    if threshold is not None and not isfinite(threshold):
        raise ValueError("threshold must be a finite number")
    if min_confidence is not None and not 0 <= min_confidence <= 1:
        raise ValueError("min_confidence must be 0 to 1")
    how: dict[str, object] = {"k": k, "explain": explain, "min_seq": min_seq}
    if threshold is not None:
        how["threshold"] = threshold
    if min_confidence is not None:
        how["min_confidence"] = min_confidence
    return how


def _path(kind: str, name: str) -> str:
    # Dots too: a name that is nothing else would be taken for a step up the path.
    return f"/{kind}/{quote(name, safe='').replace('.', '%2E')}"


def _refusal(response: httpx.Response) -> RequestRefused:
    """The error an answer stands for; from another server than ours it may have no details."""
    try:
        problem = msgspec.json.decode(response.content, type=_Problem)
    except msgspec.DecodeError:
        problem = _Problem()
    return RequestRefused(
        response.status_code,
        problem.title or response.reason_phrase,
        problem.detail,
        problem.errors,
        _seconds(response.headers.get("Retry-After", "")),
    )


def _seconds(retry_after: str) -> float | None:
    # The other form, a date, is not used by this service; one's own waits do for it.
    return float(retry_after) if retry_after.isdecimal() else None
