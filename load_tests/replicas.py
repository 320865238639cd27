"""Several processes on one Redis for minutes, while they, Redis and the network are broken.

python -m load_tests.replicas [--minutes 10] [--processes 3] [--result build/replicas.json]
                              [--scenario chaos|sentinel|cluster|maxmemory|tls|wrong-type|foreign]

Ends with status 1 when a promise was broken: an acknowledged event missing or learned twice,
processes that differ at the same event, a request that took longer than its limit or failed
without a reason, ranking that stopped, a process that did not come back by itself.
"""

import argparse
import itertools
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from benchmarks.report import aligned
from tests.system.replica import FAULTS
from tests.system.replicas import WHOLE_LOG, Run
from tests.system.scenarios import SCENARIOS

PROGRESS_SECONDS = 10


def main():
    chosen = arguments()
    began = time.localtime()
    folder = Path(tempfile.mkdtemp(prefix="manyclass-replicas-", dir=chosen.folder))
    scenario = SCENARIOS[chosen.scenario]
    run = Run(
        folder,
        processes=chosen.processes,
        store_seconds=chosen.store_seconds,
        rank_wait_seconds=1.0,
        margin=chosen.margin,
        learners=chosen.learners,
        careless=2,
        late=2,
        rankers=chosen.rankers,
        pause=chosen.pause,
        seed=chosen.seed,
        server=scenario.make_redis(folder / "redis"),
        **{
            "snapshot_events": chosen.snapshot_events,
            "snapshot_keep": WHOLE_LOG if chosen.whole_log else 3,
            **scenario.settings,
        },
    )
    with run:
        run.start_callers()
        break_things(run, chosen, scenario)
        watch(run, chosen.minutes * 60)
        scenario.heal(run)
        result = run.finish()
    recorded = {
        "verdict": "broken" if result.broken else "kept",
        "broken": result.broken,
        "began": time.strftime("%Y-%m-%d %H:%M:%S %z", began),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "arguments": vars(chosen) | {"result": str(chosen.result), "folder": str(folder)},
        **result.facts,
    }
    chosen.result.parent.mkdir(parents=True, exist_ok=True)
    chosen.result.write_text(json.dumps(recorded, indent=1) + "\n")
    print(summary(recorded))
    if result.broken:
        print(f"the logs of the processes are in {folder}")
        sys.exit(1)
    shutil.rmtree(folder)


def arguments():
    parser = argparse.ArgumentParser(description="Break several processes on one Redis.")
    parser.add_argument("--scenario", choices=SCENARIOS, default="chaos")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--learners", type=int, default=4)
    parser.add_argument("--rankers", type=int, default=3)
    parser.add_argument("--pause", type=float, default=0.01, help="seconds between two requests")
    parser.add_argument("--kill-seconds", type=float, default=20, help="one process is killed")
    parser.add_argument("--redis-seconds", type=float, default=75, help="Redis is killed")
    parser.add_argument("--fault-seconds", type=float, default=5, help="a network fails")
    parser.add_argument("--freeze-seconds", type=float, default=130, help="a process stands still")
    parser.add_argument("--compare-seconds", type=float, default=10, help="the states")
    parser.add_argument("--store-seconds", type=float, default=5)
    parser.add_argument("--margin", type=float, default=3, help="seconds beyond a request's limit")
    parser.add_argument("--snapshot-events", type=int, default=10_000)
    parser.add_argument("--whole-log", action="store_true", help="keep it, to replay all of it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where logs and data are while it runs")
    parser.add_argument("--result", type=Path, default=Path("build/replicas.json"))
    return parser.parse_args()


def break_things(run, chosen, scenario):
    """Start the faults in the background, each at its own pace."""
    downs = itertools.cycle([0.0, 1.0, 3.0])
    redis_downs = itertools.cycle([(1.0, False), (5.0, True), (2.0, True), (8.0, False)])
    short_faults, long_faults = itertools.cycle(FAULTS), itertools.cycle(FAULTS)

    def kill_redis():
        down, refuse = next(redis_downs)
        run.kill_redis(down, refuse)

    run.every(chosen.kill_seconds, lambda: run.kill_one(next(downs)))
    if scenario.by_proxy:
        run.every(chosen.redis_seconds, kill_redis)
        run.every(chosen.fault_seconds, lambda: run.fault(next(short_faults), 1))
        run.every(2.5 * chosen.fault_seconds, lambda: run.fault(next(long_faults), 7))
    if scenario.trouble is not None:
        run.every(scenario.trouble_seconds, lambda: scenario.trouble(run))
    run.every(chosen.freeze_seconds, run.freeze_one)
    run.every(chosen.compare_seconds, run.compare_if_equal)


def watch(run, seconds):
    """Say now and then how it goes, until the time is over."""
    ends = threading.Event()
    until = time.monotonic() + seconds
    learned = 0
    while (left := until - time.monotonic()) > 0:
        ends.wait(min(PROGRESS_SECONDS, left))
        record, before = run.record, learned
        learned = len(record.acknowledged)
        done = ", ".join(f"{count} {what}" for what, count in totals(record.done).items())
        print(
            f"{record.now():7.1f} s: {learned:,} events (+{learned - before:,});"
            f" {done}; {len(record.broken) + record.broken_more} promises broken",
            flush=True,
        )


def totals(done):
    """Return the number of each kind of fault."""
    return {
        "kills": done["kill"],
        "Redis kills": done["kill redis"],
        "network faults": sum(count for what, count in done.items() if what.startswith("fault:")),
        "freezes": done["freeze"],
        "wrong types": done["wrong type"],
        "foreign entries": done["foreign entry"],
        "failed starts": done["start failed"],
    }


def summary(recorded):
    """Return the result as text."""
    lines = ["", f"{recorded['seconds']:.0f} s, {recorded['machine']}", ""]
    rows = [
        ("processes", recorded["processes"]),
        *totals(Counter(recorded["done"])).items(),
        ("Redis away", f"{recorded['redis away, seconds']} s"),
        ("  ranked meanwhile", f"{recorded['ranked without Redis']:,}"),
        ("events acknowledged", f"{recorded['events acknowledged']:,}"),
        ("  of these known by a retry", f"{recorded['of these known by a retry']:,}"),
        ("events given up", f"{recorded['events given up']:,}"),
        ("events in the log", f"{recorded['log']:,}"),
        *recorded["told"].items(),
        ("seqs compared", recorded["seqs compared"]),
        ("digests compared there", recorded["digests compared"]),
        ("replayed from", ", ".join(str(each["from"]) for each in recorded["replayed"])),
    ]
    lines += [f"{name:32}{value}" for name, value in rows]
    requests = [
        {
            "request": kind,
            "p50 ms": each["p50"] * 1000,
            "p99 ms": each["p99"] * 1000,
            "longest s": each["longest"],
            "limit s": each["limit"],
            "answers": ", ".join(f"{status}: {n:,}" for status, n in each["answers"].items()),
        }
        for kind, each in recorded["requests"].items()
    ]
    lines += ["", *aligned(requests)]
    lines += ["", *recorded["broken"], f"verdict: every promise was {recorded['verdict']}"]
    if recorded["broken"]:
        lines[-1] = f"verdict: {len(recorded['broken'])} promises were broken"
    return "\n".join(lines)


if __name__ == "__main__":
    main()
