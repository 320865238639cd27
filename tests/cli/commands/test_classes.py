from time import monotonic, sleep

import pytest

from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused


def learned(url, *events):
    with Client(url) as client:
        for features, name in events:
            client.learn({"features": features, "classes": [name]})


def ranked(url, features):
    with Client(url) as client:
        return [each.name for each in client.rank({"features": features}).ranked]


def test_a_class_is_renamed_and_its_former_name_stands_for_it(manyclass, service):
    learned(service, (["renamed a"], "renamed from"))
    made = manyclass("classes", "rename", "renamed from", "renamed to", "--url", service)
    assert made.stdout.startswith("renamed by event ")
    assert ranked(service, ["renamed a"]) == ["renamed to"]
    learned(service, (["renamed b"], "renamed from"))
    assert ranked(service, ["renamed b"]) == ["renamed to"]


def test_a_class_is_merged_and_the_history_learned_again(manyclass, service):
    learned(service, (["merged a"], "merged one"), (["merged b"], "merged two"))
    manyclass("classes", "merge", "merged one", "merged two", "--url", service)
    until = monotonic() + 60
    while ranked(service, ["merged a"]) != ["merged two"]:  # the service begins by itself
        assert monotonic() < until
        sleep(0.1)


def test_a_merge_is_taken_back(manyclass, service):
    learned(service, (["back a"], "back one"), (["back b"], "back two"))
    manyclass("classes", "merge", "back one", "back two", "--url", service)
    refused = manyclass("classes", "release", "back two", "--url", service, exit_code=1)
    assert "no former name is named 'back two'" in refused.stderr
    made = manyclass("classes", "release", "back one", "--url", service)
    assert made.stdout.startswith("released by event ")
    until = monotonic() + 60
    while ranked(service, ["back a"]) != ["back one"]:  # the service begins by itself
        assert monotonic() < until
        sleep(0.1)


def test_a_name_that_is_taken_is_refused_with_the_way_out(manyclass, service):
    learned(service, (["taken a"], "taken one"), (["taken b"], "taken two"))
    refused = manyclass(
        "classes", "rename", "taken one", "taken two", "--url", service, exit_code=1
    )
    assert "merge into it instead" in refused.stderr
    with Client(service) as client, pytest.raises(RequestRefused, match="404"):
        client.rename_class("taken nobody", "x")


def test_the_classes_of_a_table_are_renamed_and_merged(manyclass, service, tmp_path):
    learned(service, (["many a"], "many Müll"), (["many b"], "many Muell"), (["many c"], "many 3"))
    table = tmp_path / "names.csv"
    table.write_text("from,to\nmany Muell,many Müll\nmany 3,many three\nmany nobody,x\n")
    dry = manyclass("classes", "apply", str(table), "--header", "--dry-run", "--url", service)
    assert "many Muell\tmerged\tmany Müll" in dry.stdout
    assert "many 3\trenamed\tmany three" in dry.stdout
    assert ranked(service, ["many c"]) == ["many 3"]
    made = manyclass("classes", "apply", str(table), "--header", "--url", service)
    assert made.stdout.splitlines()[-1] == "renamed 1 class, merged 1; 1 unknown"
    assert ranked(service, ["many c"]) == ["many three"]
    again = manyclass("classes", "apply", str(table), "--header", "--url", service)
    assert again.stdout.splitlines()[-1] == "renamed 0 classes, merged 0; 3 unknown"
    table.write_text("a,b,c,d\n")
    refused = manyclass("classes", "apply", str(tmp_path / "none.csv"), exit_code=1)
    assert "none.csv" in refused.stderr
