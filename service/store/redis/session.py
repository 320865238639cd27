"""The keys and the identity of a Redis store, and connections that check it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from secrets import token_hex
from threading import Event
from typing import Any

from redis.exceptions import RedisError

from manyclass.service.store.errors import StoreError, StoreMissing, StoreUnavailable
from manyclass.service.store.redis.durability import UNKNOWN, describe_durability
from manyclass.service.store.redis.entry import Epoch
from manyclass.service.store.redis.errors import REPLACED_HINT, lost, moved
from manyclass.service.store.redis.link import Argument, Link
from manyclass.service.store.redis.scripts import OPEN_STORE, Script
from manyclass.service.store.redis.server import Server
from manyclass.service.store.redis.url import RedisUrl

VERSION = "1"  # of the data of a store
SPARE_LINKS = 4  # open connections kept for the next calls


class Keys:
    """The keys of one service, see scripts.py."""

    def __init__(self, name: str) -> None:
        self._begin = f"{{{name}}}:"
        self.facts = f"{self._begin}facts"
        self.events = f"{self._begin}events"
        self.chunk = f"{self._begin}chunk:"  # prefix of the key of each
        self.waiting = f"{self._begin}waiting"
        self.waiting_heads = f"{self._begin}waiting-heads"

    def of(self, script: Script) -> list[str]:
        """Return the keys of every call of a script."""
        return [f"{self._begin}{key}" for key in script.keys]

    def appends_of(self, process: str) -> str:
        return f"{self._begin}append:{process}"

    def mailbox_of(self, process: str) -> str:
        return f"{self._begin}mail:{process}"

    def lease_of(self, instance_id: str) -> str:
        return f"{self._begin}review:{instance_id}"

    def chunk_of(self, identity: str, number: int) -> str:
        return f"{self.chunk}{identity}:{number}"


class Session:
    """The connections of a process to one store.

    The first connection reads the store's identity, and makes the store if there is none. From then
    on a server without this store counts as unavailable. Any thread may call any method at any
    time.
    """

    def __init__(self, url: RedisUrl, name: str, patience: float, make_new: bool = True) -> None:
        self.name = name  # of the process
        self.keys = Keys(url.name)
        self.identity = ""  # of the store; nothing before the first connection
        self.epoch = Epoch(1, 0)  # of the log, when the newest connection was made
        self.durability = UNKNOWN
        self.closed = Event()
        self.lease = b""  # "<token> <process>" when this process has it, by the newest heartbeat
        self.is_full = False  # the server has no memory for an append, by the newest heartbeat
        self.server = Server(url, name, patience)
        self.foreign = 0  # entries of the log that were skipped
        self._foreign_to = (0, 0)  # the highest id among them
        self._url = url
        self._make_new = make_new
        self._spare: list[Link] = []

    def connect(self, blocking_seconds: float = 0.0) -> tuple[Link, bytes]:
        """Return a connection, and the id of the newest entry of the log. Raises StoreError."""
        if self.closed.is_set():
            raise StoreError(f"the store at {self._url.shown} is closed")
        try:
            return self._connect(blocking_seconds)
        except StoreUnavailable:
            raise
        except StoreError as error:
            if not self.identity:
                raise
            # At the start, a missing store is an error; later, it counts as unavailable.
            raise StoreUnavailable(str(error), error.hint) from error

    def _connect(self, blocking_seconds: float) -> tuple[Link, bytes]:
        link, info = self.server.connect(blocking_seconds)
        try:
            with self.server.errors_of_store():
                new = token_hex(8) if self._make_new and not self.identity else ""
                if not (new or self.identity or link.call("EXISTS", self.keys.facts)):
                    raise StoreMissing(
                        f"there is no store {self._url.name!r} at {self._url.shown}",
                        "check ?name= in its URL",
                    )
                identity, version, tail, epoch = link.run(
                    OPEN_STORE, self.keys.of(OPEN_STORE), (new, VERSION)
                )
                durability = describe_durability(link, info, self._url.replicas)
            if version.decode() != VERSION:
                raise StoreError(
                    f"the store at {self._url.shown} has version {version.decode()}, but this"
                    f" service reads version {VERSION}",
                    "use the release of manyclass that wrote it, or another ?name=",
                )
            self.identity = self.identity or identity.decode()
            if identity != self.identity.encode():
                raise StoreUnavailable(
                    f"the store at {self._url.shown} was replaced", REPLACED_HINT
                )
        except BaseException:
            link.close()
            raise
        self.durability = durability
        self.epoch = Epoch.of(epoch)
        return link, tail

    def run(self, script: Script, *arguments: Argument, more_keys: Sequence[str] = ()) -> Any:
        """Return the answer of a script, as `run_on`.

        Without an answer the script is sent once more, so it must be one that may run twice. Raises
        StoreError.
        """
        return self._ask(lambda link: self.run_on(link, script, *arguments, more_keys=more_keys))

    def run_on(
        self, link: Link, script: Script, *arguments: Argument, more_keys: Sequence[str] = ()
    ) -> Any:
        """Return the answer of a script, which gets the store's identity before the arguments.

        `more_keys` come behind those of every call. Raises RedisError.
        """
        keys = (*self.keys.of(script), *more_keys)
        return link.run(script, keys, (self.identity, *arguments))

    def call(self, *command: Argument) -> Any:
        """Return the answer to a command, which may be sent twice too. Raises StoreError."""
        return self._ask(lambda link: link.call(*command))

    def tail(self) -> bytes:
        """Return the id of the newest entry of the log. Raises StoreError."""
        identity, tail = self.call("HMGET", self.keys.facts, "identity", "tail")
        if identity != self.identity.encode():
            raise self.replaced()
        return bytes(tail)

    @property
    def may_exceed_memory(self) -> bool:
        """Return whether this process may write a snapshot to a full server.

        Its snapshot lets the log be trimmed, which makes room. Other writes wait for that.
        """
        return self.is_full and bool(self.lease)

    def count_foreign(self, place: bytes) -> bool:
        """Count a skipped entry; return False if one with this id or a later one was counted."""
        milliseconds, _, number = place.partition(b"-")
        found = (int(milliseconds), int(number))
        if found <= self._foreign_to:
            return False
        self._foreign_to = found
        self.foreign += 1
        return True

    def replaced(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"the store at {self._url.shown} was emptied or replaced", REPLACED_HINT
        )

    def _ask(self, ask: Callable[[Link], Any]) -> Any:
        tries = 2
        while True:
            tries -= 1
            link = (self._spare_link() if tries else None) or self.connect()[0]
            try:
                answer = ask(link)
            except RedisError as error:
                link.close()
                if tries and (lost(error) or moved(error)):
                    self._drop_spare_links()  # the others have ended for the same reason
                    continue
                raise self.server.store_error(error) from error
            except BaseException:
                link.close()
                raise
            if len(self._spare) < SPARE_LINKS and not self.closed.is_set():
                self._spare.append(link)
            else:
                link.close()
            return answer

    def _spare_link(self) -> Link | None:
        while self._spare:
            with suppress(IndexError):  # another thread took it
                link = self._spare.pop()
                if not link.ended():
                    return link
                link.close()
        return None

    def close(self) -> None:
        """Close all connections and open no more. Closing twice is fine."""
        self.closed.set()
        self._drop_spare_links()

    def _drop_spare_links(self) -> None:
        while self._spare:
            with suppress(IndexError):  # another thread took it
                self._spare.pop().close()
