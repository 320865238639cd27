import pytest

from manyclass.training.tables.columns import MOST_NAMED, choose, column_names, suggestion
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Record, TableError

ROWS = [Record(2, ["7", "a long text of words", "x"]), Record(3, ["8", "another text", "y"])]


def message(names, labelled=True, rows=ROWS, **layout):
    """Return the message about columns that are missing or unknown."""
    with pytest.raises(TableError) as error:
        choose(Layout(**layout), names, rows, labelled)
    return str(error.value)


@pytest.mark.parametrize(
    ("names", "text", "classes"),
    [
        (["text", "label"], (0,), (1,)),
        (["id", "Question", "INTENT", "score"], (1,), (2,)),
        (["category", "body"], (1,), (0,)),
    ],
)
def test_columns_are_guessed_by_their_names(names, text, classes):
    found = choose(Layout(), names, [], True)
    assert (found.text, found.classes, found.id) == (text, classes, None)
    assert f"the text is in column `{names[text[0]]}`" in found.said
    assert f"the class is in column `{names[classes[0]]}`" in found.said


def test_to_rank_only_the_text_is_needed():
    found = choose(Layout(classes=("nowhere",)), ["text", "label"], [], False)
    assert (found.text, found.classes) == ((0,), ())
    assert found.said == "the text is in column `text`"


def test_given_columns_are_not_guessed():
    found = choose(Layout(text=("b",), classes=("3",), id="a"), ["a", "b", "label"], [], True)
    assert (found.text, found.classes, found.id, found.said) == ((1,), (2,), 0, "")


def test_names_that_fit_twice_are_not_guessed():
    assert message(["title", "text", "label"]).endswith(
        "add --text-column title --text-column text --class-column label, and --fields to keep"
        " title and text apart"
    )
    assert "--class-column tags" in message(["text", "tags", "label"])
    assert message(["title", "text", "label"], fields=True).endswith("--class-column label")


def test_columns_of_labels_with_a_number_are_all_proposed():
    assert message(["Text", "Label 1", "Label 2", "tag_3"]).endswith(
        "add --text-column Text --class-column 'Label 1' --class-column 'Label 2'"
    )
    assert suggestion(["text", "label", "label 2"], ROWS, True).endswith(" --class-column label")


@pytest.mark.parametrize("kind", ["text", "classes", "one_hot"])
@pytest.mark.parametrize("again", ["title", "2"])
def test_a_column_that_is_given_twice_is_refused(kind, again):
    flag = {"text": "--text-column", "classes": "--class-column", "one_hot": "--one-hot"}[kind]
    given = {"text": ("body",), "classes": ("label",), kind: ("title", again)}
    assert message(["body", "title", "label"], **given) == (
        f"column `title` is given twice by {flag}: the columns are body, title, label"
    )


def test_ids_and_blank_columns_are_not_proposed():
    assert "add --text-column a --class-column COLUMN;" in message(["id", "a", "nr"])
    assert "add --text-column COLUMN --class-column COLUMN;" in message(["Row_ID", "key"])
    row = ["7", "", "My card", "it is lost", "", "lost_card", "0.9"]
    names = ["id", "text", "title", "body", "features", "class_1", "score_1"]
    assert suggestion(names, [Record(2, row)], True) == (
        "--text-column title --text-column body --class-column class_1, and --fields to keep title"
        " and body apart"
    )


def test_the_longest_cells_are_the_text_and_a_class_has_a_known_name():
    assert message(["a", "b b", "c"]) == (
        "this is a table with the columns a, b b, c: add --text-column 'b b' --class-column COLUMN;"
        " COLUMN is one of a (7, 8), b b (a long text of words, another text), c (x, y)"
    )
    assert message(["a", "b b", "c"], labelled=False).endswith("add --text-column 'b b'")
    assert "add --class-column COLUMN; COLUMN is one of" in message(["a", "b", "c"], text=("b",))
    assert message(["a", "b", "c"], classes=("b",)).endswith("add --text-column a")


def test_a_channel_with_few_values_is_not_proposed_as_the_class():
    rows = [Record(2, ["a letter", "mail", "lamps in the street"]), Record(3, ["b", "mail", ""])]
    said = message(["body", "Kanal", "Sparte"], rows=rows)
    assert said.endswith(
        "add --text-column body --class-column COLUMN; COLUMN is one of body (a letter, b), Kanal"
        " (mail), Sparte (lamps in the street)"
    )
    assert message(["a", "Kanal", "Label"], rows=rows).endswith("--class-column Label")


def test_an_id_is_neither_the_text_nor_the_class():
    for name in ("id", "KEY", "uuid", "order_id", "ticketId"):
        columns = ["n", "b b", name]
        assert "add --text-column 'b b' --class-column COLUMN;" in message(columns)
        said = message([name, "b b"], rows=[Record(2, ["long as a text", "x"])])
        assert "add --text-column 'b b' --class-column COLUMN;" in said
    assert message(["label_id", "b b"]).endswith("--class-column label_id")


def test_one_column_cannot_have_both():
    assert message(["text"]).endswith(
        "add --text-column text --class-column COLUMN; COLUMN is one of text (7, 8)"
    )


def test_an_unknown_column_lists_those_there_are():
    said = message(["text", "label"], text=("txt",))
    assert said == ("there is no column `txt`, the columns are text, label; did you mean `text`?")
    assert "no column `4`" in message(["text", "label"], text=("4",))
    many = message([f"c{number}" for number in range(1000)], text=("x" * 500,))
    assert f"c{MOST_NAMED - 1}, 980 more" in many
    assert len(many) < 400


def test_a_name_that_two_columns_have_is_ambiguous_and_a_number_is_not():
    assert "columns 1, 3 are all named `a`: rename one, or give a number" in message(
        ["a", "b", "a"], text=("a",)
    )
    assert choose(Layout(text=("3",)), ["a", "b", "a"], [], False).text == (2,)


def test_a_name_wins_over_a_number():
    assert choose(Layout(text=("2",)), ["2", "a"], [], False).text == (0,)


def test_columns_without_a_name_have_one_by_number():
    assert column_names(["", " a ", "\n"]) == ["column 1", "a", "column 3"]
