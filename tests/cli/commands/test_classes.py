from time import monotonic, sleep

import pytest

from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused
from tests.training.tables.workbooks import workbook


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


@pytest.fixture
def apply(manyclass, service, tmp_path):
    """Return a function that applies a table, and returns the result of the command."""

    def run(table, *options, exit_code=0):
        file = tmp_path / "names.csv"
        file.write_text(table)
        given = ("classes", "apply", str(file), *options, "--url", service)
        return manyclass(*given, exit_code=exit_code)

    return run


def test_the_classes_of_a_table_are_renamed_and_merged(apply, service):
    learned(service, (["many a"], "many Müll"), (["many b"], "many Muell"), (["many c"], "many 3"))
    table = "from,to\nmany Muell,many Müll\nmany 3,many three\nmany nobody,x\nmany Müll,\n"
    dry = apply(table, "--dry-run").stdout.splitlines()
    assert dry == [
        "many Muell\tmerged\tmany Müll",
        "many 3\trenamed\tmany three",
        "many nobody\tunknown\tx\tno class is named `many nobody`",
        "would rename 1 class, merge 1; done before 0, unknown 1",
    ]
    assert ranked(service, ["many c"]) == ["many 3"]
    made = apply(table).stdout.splitlines()
    assert made[:-1] == dry[:-1]
    assert made[-1] == "renamed 1 class, merged 1; done before 0, unknown 1"
    assert ranked(service, ["many c"]) == ["many three"]
    again = apply(table).stdout.splitlines()
    assert again[0] == "many Muell\tdone\tmany Müll"
    assert again[-1] == "renamed 0 classes, merged 0; done before 2, unknown 1"


@pytest.mark.parametrize(
    "header", ["old,new", "name,new", "from,to", "Name;New name", "old\tnew", None]
)
def test_headers_of_a_table_of_names(apply, service, header):
    learned(service, (["head a"], f"head {header}"))
    between = next(each for each in "\t;," if each in (header or ","))
    head = "" if header is None else f"{header}\n"
    table = f"{head}head {header}{between}to {header}\n"
    if between in f"head {header}":
        table = f'{head}"head {header}"{between}"to {header}"\n'
    done = apply(table)
    assert done.stdout.splitlines()[-1].startswith("renamed 1 class, merged 0")


def test_other_columns_need_a_header_of_known_names(apply, service):
    learned(service, (["col a"], "col one"))
    done = apply("id,new,count,old\n7,col two,1,col one\n")
    assert done.stdout.startswith("col one\trenamed\tcol two")
    refused = apply("id,neu,count\n7,x,1\n", exit_code=1)
    assert "it has 3 columns (id, neu, count): name the class `old`" in refused.stderr
    assert "--header" not in refused.stderr
    unnamed = apply("alt,neu\ncol two,col 3\n", "--header", "--dry-run")
    assert unnamed.stdout.startswith("col two\trenamed\tcol 3")


def test_a_former_name_stands_for_its_class_and_rows_come_one_after_another(apply, service):
    learned(
        service,
        *((["f a"], "f a"), (["f b"], "f b"), (["f c"], "f c"), (["f d"], "f d")),
    )
    table = "old,new\nf a,f now\nf b,f a\nf c,f new\nf new,f last\nf d,f d\nf now,f a\n"
    dry = apply(table, "--dry-run").stdout.splitlines()
    assert dry[:-1] == [
        "f a\trenamed\tf now",
        "f b\tmerged\tf now\t`f a` is a former name of it",
        "f c\trenamed\tf new",
        "f new\trenamed\tf last",
        "f d\tdone\tf d",
        "f now\trenamed\tf a",
    ]
    assert apply(table).stdout.splitlines()[:-1] == dry[:-1]
    with Client(service) as client:
        names = {name: client.class_(name).name for name in ("f now", "f a", "f b", "f c")}
        assert names == {"f now": "f a", "f a": "f a", "f b": "f a", "f c": "f last"}
        assert set(client.class_("f a").former_names) == {"f b", "f now"}


def test_a_swap_is_refused_since_it_would_merge(apply, service):
    learned(service, *((["s a"], "s a"), (["s b"], "s b")))
    for more in ((), ("--dry-run",)):
        refused = apply("old,new\ns a,s b\ns b,s a\n", *more, exit_code=1)
        assert "a row above merges `s a` into `s b`" in refused.stderr
    with Client(service) as client:
        assert {client.class_(name).name for name in ("s a", "s b")} == {"s a", "s b"}


def test_nothing_changes_if_a_row_cannot_be_applied(apply, service):
    learned(service, (["w a"], "w a"), (["w b"], "w b"), (["w c"], "w c"))
    with Client(service) as client:
        client.rename_class("w a", "w new")
    refused = apply("old,new\nw b,w other\nw a,w third\n,w x\n", exit_code=1)
    assert "line 4: the new name `w x` has no class beside it" in refused.stderr
    refused = apply("old,new\nw b,w other\nw a,w third\nw c,w d\nw c,w e\n", exit_code=1)
    first, second, last = refused.stderr.splitlines()
    assert "line 3: `w a` is a former name, the class is now `w new`" in first
    assert "line 5: `w c` is a former name, the class is now `w d`" in second
    assert last.endswith("nothing is changed; correct the table")
    assert refused.stdout == ""
    assert ranked(service, ["w b"]) == ["w b"]


def test_a_refusal_of_the_service_names_the_row(apply, service, monkeypatch):
    learned(service, (["r a"], "r a"), (["r b"], "r b"))

    def refuse(client, name, to):
        raise RequestRefused(409, "Conflict", "the names of the taxonomy are full")

    monkeypatch.setattr(Client, "merge_class", refuse)
    refused = apply("r a,r c\nr b,r c\n", exit_code=1)
    assert "line 2: the service refused" in refused.stderr
    assert "The 1 rows before it are applied" in refused.stderr
    assert ranked(service, ["r a"]) == ["r c"]


def test_a_table_that_cannot_be_read(manyclass, tmp_path):
    refused = manyclass("classes", "apply", str(tmp_path / "none.csv"), exit_code=1)
    assert "none.csv" in refused.stderr
    (tmp_path / "empty.csv").write_text("")
    refused = manyclass("classes", "apply", str(tmp_path / "empty.csv"), exit_code=1)
    assert "it is empty" in refused.stderr


def test_new_names_are_read_from_json_and_excel(manyclass, service, tmp_path):
    learned(service, (["x a"], "x a"), (["x b"], "x b"))
    (tmp_path / "names.json").write_text('{"x a": "x one", "x nobody": null}')
    done = manyclass("classes", "apply", str(tmp_path / "names.json"), "--url", service)
    assert done.stdout.startswith("x a\trenamed\tx one")
    rows = [["old", "new"], ["x b", "x two"], ["", "x three"]]
    (tmp_path / "names.xlsx").write_bytes(workbook(rows))
    refused = manyclass(
        "classes", "apply", str(tmp_path / "names.xlsx"), "--url", service, exit_code=1
    )
    assert "row 3: the new name `x three` has no class beside it" in refused.stderr
