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
    assert refused.stderr.startswith(
        "manyclass: the service refused: 409 Conflict: class 'm' is below 'n', not below 'o'"
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
        f"manyclass: {file}: line 1: it has 1 columns, not a class and its parent\n"
    )


def test_events_in_files_place_classes(manyclass, service):
    event = {"features": ["a"], "classes": ["inline"], "parents": {"inline": "outer"}}
    manyclass("learn", "-", "--url", service, input=json.dumps(event) + "\n")
    with Client(service) as client:
        assert client.class_("inline").parent == "outer"
