"""Every archive keeps its promises: whole objects, their names, and nothing of other archives."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from manyclass.service.store.archive import open_archive

NAME = "4f1c/00000000000001-00000000004096-3-7.segment"
OTHER = "4f1c/00000000004097-00000000008192-3-7.segment"
ODD_NAMES = [
    "",
    "/",
    "name",
    "folder/",
    "/folder/name",
    "folder//name",
    "a/b/c",
    "../name",
    "folder/..",
    "./name",
    "folder/.name",
    "folder/na me",
    "folder/name\n",
    "folder/n\xe4me",
    "folder/n\0me",
    "folder\\..\\name/x",
    "folder/" + "n" * 201,
]


def test_an_object_is_returned_as_it_was_put(archive):
    for body in (b"", b"\0\xff", bytes(range(256)) * 20_000):
        archive.put(NAME, body)
        assert archive.get(NAME) == body


def test_there_is_nothing_at_first(archive):
    assert archive.names() == []
    assert archive.get(NAME) is None
    archive.delete(NAME)
    assert archive.names() == []


def test_an_object_replaces_that_of_its_name(archive):
    archive.put(NAME, b"a long object")
    archive.put(NAME, b"new")
    assert archive.get(NAME) == b"new"
    assert archive.names() == [NAME]


def test_a_deleted_object_is_gone_alone(archive):
    archive.put(NAME, b"1")
    archive.put(OTHER, b"2")
    archive.delete(NAME)
    archive.delete(NAME)
    assert archive.get(NAME) is None
    assert archive.get(OTHER) == b"2"
    assert archive.names() == [OTHER]


def test_another_process_finds_the_objects(archive, url):
    archive.put(NAME, b"1")
    assert open_archive(url).get(NAME) == b"1"
    assert open_archive(url).names() == [NAME]


def test_the_names_are_sorted_as_texts(archive):
    names = ["b/1", "a/2", "a/10", "a-b/1", "A/1", "a.b/1", "a_b/1", "a/1.x", "a/1-x"]
    for name in names:
        archive.put(name, b"")
    assert archive.names() == sorted(names)


def test_more_than_a_thousand_names_are_all_listed(archive):
    names = [f"{seq % 3}/{seq:014}.segment" for seq in range(1_101)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: archive.put(name, b"x"), names))
    assert archive.names() == sorted(names)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_refused(archive, name):
    for call in (archive.get, archive.delete, lambda each: archive.put(each, b"x")):
        with pytest.raises(ValueError, match="cannot be the name"):
            call(name)
    assert archive.names() == []


def test_archives_side_by_side_do_not_mix(url):
    first, second, within = map(open_archive, (f"{url}/a", f"{url}/ab", f"{url}/a/x"))
    first.put(NAME, b"1")
    second.put(NAME, b"2")
    within.put(NAME, b"3")
    for archive, body in ((first, b"1"), (second, b"2"), (within, b"3")):
        assert archive.get(NAME) == body
        assert archive.names() == [NAME]
    first.delete(NAME)
    assert first.names() == []
    assert second.names() == within.names() == [NAME]


def test_the_place_is_shown(archive, url):
    assert archive.shown == url


def test_threads_read_whole_objects_while_others_replace_them(archive):
    archive.put(NAME, b"0" * 300_000)

    def put(digit):
        for _ in range(10):
            archive.put(NAME, digit * 300_000)

    def read(_):
        for _ in range(20):
            body = archive.get(NAME)
            assert len(body) == 300_000
            assert len(set(body)) == 1
            assert archive.names() == [NAME]

    with ThreadPoolExecutor(8) as pool:
        for made in [*map(lambda each: pool.submit(put, each), (b"1", b"2", b"3"))] + [
            pool.submit(read, each) for each in range(3)
        ]:
            made.result()


PUTTING = """
import sys
from itertools import cycle
from manyclass.service.store.archive import open_archive
archive = open_archive(sys.argv[1])
print("ready", flush=True)
for digit in cycle((b"1", b"2", b"3")):
    archive.put(sys.argv[2], digit * 4_000_000)
"""


def test_a_process_killed_amid_put_leaves_a_whole_object(archive, url):
    archive.put(NAME, b"0" * 4_000_000)
    for turn in range(6):
        command = [sys.executable, "-c", PUTTING, url, NAME]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout.readline() == b"ready\n"
            time.sleep(0.003 + 0.015 * turn)
            child.kill()
        body = open_archive(url).get(NAME)
        assert len(body) == 4_000_000
        assert len(set(body)) == 1
        assert archive.names() == [NAME]
