"""Memory that runs out. Not with the tests of core: a sanitizer needs all addresses there are."""

import subprocess
import sys

LEARNS_TOO_MUCH = """
from pathlib import Path
from resource import RLIMIT_AS, getpagesize, setrlimit

from manyclass.core.errors import IndexHalfChanged
from manyclass.core.instance import Instance
from manyclass.core.index import Index
from manyclass.core.learners.options import Options

index = Index(Options())
index.learn(["a"], ["x"])
large = Instance([f"{number:04000}" for number in range(60_000)])  # 240 MB
taken = int(Path("/proc/self/statm").read_text().split()[0]) * getpagesize()
setrlimit(RLIMIT_AS, (taken + 2**26,) * 2)
try:
    index.learn(large, ["x"])
except MemoryError:
    print("no memory")
for call in (
    index.dump,
    lambda: index.features,
    lambda: index.rank(["a"]),
    lambda: index.learn(["a"], ["x"]),
    lambda: index.forget_class("x"),
):
    try:
        call()
    except IndexHalfChanged as error:
        print(error)
"""


def test_an_index_half_changed_for_want_of_memory_answers_no_call():
    done = subprocess.run([sys.executable, "-c", LEARNS_TOO_MUCH], capture_output=True, text=True)
    refusal = "an error left the index half changed: load it anew from a snapshot"
    assert done.stdout.splitlines() == ["no memory", *[refusal] * 5], done.stderr
