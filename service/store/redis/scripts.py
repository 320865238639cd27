"""The Lua scripts of a Redis store, each one atomic step, for Redis 6.2 and later, and Valkey.

lua/ has a file for each, which begins with its keys, arguments and answer. All keys of a service
begin with {name}, so that a cluster keeps them on one server:

    {name}:facts       identity | version | tail | epoch | floor | fence | confirmed |
                       adopted
                       identity: made once, tells this store from any other of the same name
                       tail: the id of the newest entry of the log, see entry.py; a snapshot newer
                             than the log makes it "<place of its seq>-0"
                       epoch: "<epoch> <last seq before it>" of the entries to come, see entry.py
                       floor: the log was trimmed up to this event
                       fence: the number of times the lease was taken
                       confirmed: the number of times a process waited for the replicas
                       adopted: the newest event that adopted a rebuilt state
    {name}:events      the log: a stream, see entry.py
    {name}:append:P    "<number> <last seq>" of the newest append of process P, for a day
    {name}:lease       "<token> <process>" of the leader, for some seconds
    {name}:processes   process -> "<last heartbeat, in ms> <its version of the rules of learning>
                       <seq, or nothing>"
    {name}:mail:P      messages to process P, while it is alive: a stream, for a minute
    {name}:snapshots   seq -> manifest, see manifest.py
    {name}:segments    last seq -> "<first seq> <bytes> <amendments> <checksum> <name in the
                       archive>" of each segment of the history, see segments.py
    {name}:rebuilt     seq | manifest | plan | adopted, of a state that a rebuild made, until it is
                       settled: adopted is the event that made it the state, see rebuilt.py
    {name}:waiting     id -> all but the head of each instance that waits for review, see waiting.py
    {name}:waiting-heads  id -> the head of the instance
    {name}:review:ID   the reviewer who has the instance now, for two minutes
    {name}:chunks      identity of a snapshot -> "<in use until, in ms> <number of chunks>", for
                       every snapshot that may have chunks, listed or not
    {name}:chunk:I:N   chunk N of the snapshot with identity I

No script depends on the clock or the randomness of a client: random values are arguments, and the
time is the server's.
"""

from hashlib import sha1
from importlib.resources import files
from typing import Final

from manyclass.service.store.redis.entry import EPOCH, LAST_EPOCH

_LUA: Final = files(__package__) / "lua"
_COMMON: Final = (
    "local REPLACED = 'REPLACED the store was emptied or replaced'\n"
    f"local EPOCH = {EPOCH}\n"
    f"local LAST_EPOCH = {LAST_EPOCH}\n" + (_LUA / "common.lua").read_text()
)
_GUARD: Final = """
if redis.call('HGET', KEYS[1], 'identity') ~= ARGV[1] then
    return redis.error_reply(REPLACED)
end
"""


class Script:
    """A script by its text, and by its hash, once the server has it.

    `keys` are those of every call, behind the key of the facts; see `Keys`. The first argument is
    the identity of the store, which the script compares first. The script that opens a store reads
    the identity, or makes it.
    """

    def __init__(self, name: str, *keys: str, opens: bool = False) -> None:
        guard = "" if opens else _GUARD
        self.keys = ("facts", *keys)
        self.text = _COMMON + guard + (_LUA / f"{name}.lua").read_text()
        self.sha = sha1(self.text.encode()).hexdigest()


OPEN_STORE: Final = Script("open_store", "events", opens=True)
APPEND: Final = Script("append", "events", "rebuilt")
CONFIRM: Final = Script("confirm")
READ: Final = Script("read", "events")
HEARTBEAT: Final = Script("heartbeat", "lease", "processes", "snapshots", "chunks", "rebuilt")
LEAVE: Final = Script("leave", "lease", "processes")
POST: Final = Script("post", "processes")
CLEAR_MAIL: Final = Script("clear_mail", "processes")
TRIM: Final = Script("trim", "events", "lease", "processes", "snapshots", "rebuilt")
PUT_CHUNK: Final = Script("put_chunk", "chunks")
LIST_SNAPSHOT: Final = Script("list_snapshot", "events", "snapshots", "chunks", "lease")
LISTED: Final = Script("listed", "snapshots")
OPEN_SNAPSHOT: Final = Script("open_snapshot", "snapshots", "chunks")
HOLD_CHUNKS: Final = Script("hold_chunks", "chunks")
DELETE_SNAPSHOT: Final = Script("delete_snapshot", "lease", "snapshots")
SWEEP: Final = Script("sweep", "snapshots", "chunks", "rebuilt")
SEGMENTS: Final = Script("segments", "segments")
LIST_SEGMENT: Final = Script("list_segment", "lease", "segments")
DELETE_SEGMENTS: Final = Script("delete_segments", "lease", "segments")
LIST_REBUILT: Final = Script("list_rebuilt", "events", "lease", "chunks", "rebuilt")
REBUILT: Final = Script("rebuilt", "rebuilt", "chunks")
DROP_REBUILT: Final = Script("drop_rebuilt", "lease", "rebuilt")
PUT_WAITING: Final = Script("put_waiting", "waiting", "waiting-heads")
REMOVE_WAITING: Final = Script("remove_waiting", "waiting", "waiting-heads")
LEASE_WAITING: Final = Script("lease_waiting")
END_WAITING_LEASES: Final = Script("end_waiting_leases")
RELEASE_WAITING: Final = Script("release_waiting")
