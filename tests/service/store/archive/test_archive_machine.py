"""Any sequence of calls leaves an archive as it leaves a dict."""

from contextlib import ExitStack
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from manyclass.service.store.archive import open_archive
from tests.hypothesis_examples import examples

PARTS = st.sampled_from(["a", "A", "a-", "a.b", "-", "_", "0", "tmp", "x.tmp"])
NAMES = st.builds("{}/{}".format, PARTS, PARTS)


class ArchiveMachine(RuleBasedStateMachine):
    def __init__(self, url):
        super().__init__()
        self.url = url
        self.objects = {}
        self.archive = open_archive(url)

    @rule(name=NAMES, body=st.binary(max_size=100))
    def put(self, name, body):
        self.archive.put(name, body)
        self.objects[name] = body

    @rule(name=NAMES)
    def get(self, name):
        assert self.archive.get(name) == self.objects.get(name)

    @rule(name=NAMES)
    def delete(self, name):
        self.archive.delete(name)
        self.objects.pop(name, None)

    @rule()
    def reopen(self):
        self.archive = open_archive(self.url)

    @invariant()
    def the_names_are_those_of_the_dict(self):
        assert self.archive.names() == sorted(self.objects)


@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_an_archive_behaves_as_a_dict(kind, request):
    with ExitStack() as opened:
        if kind == "s3":
            base = request.getfixturevalue("s3_url")
            places = (f"{base}/{number}" for number in range(10**9))
        else:
            base = opened.enter_context(TemporaryDirectory())
            places = (f"file://{base}/{number}" for number in range(10**9))
        run_state_machine_as_test(
            lambda: ArchiveMachine(next(places)), settings=examples(50, stateful_step_count=25)
        )
