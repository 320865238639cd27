import json

from manyclass.client.client import Client


def test_the_classes_of_a_file_are_placed(manyclass, service, tmp_path):
    file = tmp_path / "classes.csv"
    file.write_text("class,parent\n" + "".join(f"p{n},above\n" for n in range(2500)))
    result = manyclass("place", file, "--url", service)
    assert result.stdout == "placed 2,500 classes\n"
    manyclass("place", file, "--url", service)  # harmless
    with Client(service) as client:
        shown = client.class_("above", limit=3)
        assert (shown.children, shown.next) == (("p0", "p1", "p2"), "p2")
        assert client.class_("p2499").path == ("above", "p2499")


def test_classes_move_only_if_asked(manyclass, service):
    def place(*options, exit_code=0, **parents):
        given = json.dumps(parents)
        return manyclass("place", "-", "--url", service, *options, input=given, exit_code=exit_code)

    place(m="n")
    refused = place(m="o", exit_code=1)
    assert (
        "manyclass: the service refused: 409 Conflict: class 'm' is below 'n', not below 'o'"
        in refused.stderr
    )
    place("--move", m="o")
    with Client(service) as client:
        assert client.class_("m").parent == "o"
        client.place("m", None, move=True)
        assert client.class_("m").path == ("m",)
        assert client.place_many({"m": "q"}) > 0
        assert client.class_("m").parent == "q"


def test_a_file_of_another_form_is_refused(manyclass, service, tmp_path):
    file = tmp_path / "classes.csv"
    file.write_text("only one column\n")
    result = manyclass("place", file, "--url", service, exit_code=1)
    assert result.stderr == (
        f"manyclass: {file}: line 1: it has 1 cell, not a class and its parent; a class at the"
        " top has a delimiter behind it: `sports,`\n"
    )


def test_events_in_files_place_classes(manyclass, service):
    event = {"features": ["a"], "classes": ["inline"], "parents": {"inline": "outer"}}
    manyclass("learn", "-", "--url", service, input=json.dumps(event) + "\n")
    with Client(service) as client:
        assert client.class_("inline").parent == "outer"


TREE = '{"sports":{"hockey":{},"baseball":{}}}'


def test_a_nested_tree_is_placed_whole_and_said(manyclass, service):
    tree = '{"nested sports":{"nested hockey":{},"nested baseball":{}}}'
    result = manyclass("place", "-", "--url", service, input=tree)
    assert result.stderr.startswith("read 3 classes, 1 at the top (nested sports); a nested tree")
    assert result.stdout == "placed 3 classes\n"
    with Client(service) as client:
        assert set(client.class_("nested sports").children) == {"nested hockey", "nested baseball"}


def test_a_dry_run_places_nothing_and_prints_a_file_for_taxonomy(manyclass, nobody, tmp_path):
    result = manyclass("place", "-", "--dry-run", "--url", nobody, input=TREE)
    assert json.loads(result.stdout) == {"sports": None, "hockey": "sports", "baseball": "sports"}
    again = manyclass("place", "-", "--dry-run", "--url", nobody, input=result.stdout)
    assert again.stdout == result.stdout
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"features": ["a"], "classes": ["hockey"]}\n')
    doubtful = tmp_path / "tree.json"
    doubtful.write_text('{"hockey": ["sports"]}')
    trained = ("train", rows, "--out", tmp_path / "out", "--taxonomy", doubtful)
    refused = manyclass(*trained, exit_code=2)
    assert "--dry-run > tree.json" in " ".join(refused.output.replace("│", " ").split())
    made = manyclass("place", doubtful, "--lists", "parents", "--dry-run").stdout
    doubtful.write_text(made)
    manyclass(*trained)


def test_columns_may_be_named(manyclass, service):
    table = "Klasse;Oberklasse;Text\nunihockey;Sportarten;x\nvolley;Sportarten;y\n"
    columns = ("--child-column", "Klasse", "--parent-column", "Oberklasse")
    manyclass("place", "-", "--url", service, *columns, input=table)
    with Client(service) as client:
        assert set(client.class_("Sportarten").children) == {"unihockey", "volley"}


def test_a_path_that_is_too_long_is_refused_with_its_line(manyclass, nobody):
    rows = "".join(f"n{number},n{number + 1}\n" for number in range(40))
    refused = manyclass("place", "-", "--url", nobody, input=rows, exit_code=1)
    assert "line " in refused.stderr
    assert "a path would have" in refused.stderr
