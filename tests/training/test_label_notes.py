import json
import re
from importlib.resources import files

from manyclass.training import label_notes
from manyclass.training.label_notes import EMPTY, LabelNotes, folded


def notes_of(*labels):
    notes = LabelNotes()
    for label in labels:
        notes.add([label])
    return notes.notes()


def test_labels_that_may_stand_for_an_empty_cell_are_counted_with_the_way_to_leave_them_out():
    assert notes_of("nan", "refund", "nan", "NULL", "none of these", "-") == [
        "labels that may stand for an empty cell: 'nan' (2), 'NULL' (1), '-' (1);"
        " --leave-out='nan' --leave-out='NULL' --leave-out='-' leaves out their rows"
    ]


def test_labels_that_differ_in_their_writing_only_are_named():
    [note] = notes_of("Refund", "refund", "Refund", "re fund", "Café", "cafe", "\uff21B", "AB", "x")
    assert note.startswith(
        "labels that differ only by case, blanks, accents or width are classes of their own: "
    )
    for group in ("'Refund' (2) and 'refund' (1) and 're fund' (1)", "'Café' (1) and 'cafe' (1)"):
        assert group in note
    assert "(1) and 'AB' (1)" in note
    assert note.endswith("; `manyclass classes merge` makes two of them one")


def test_labels_that_join_others_are_named_with_the_way_to_part_them():
    noted = notes_of("bill|urgent", "bill | card", "card|urgent", "card", "bill|urgent")
    assert noted == [
        "labels that join others: 'bill|urgent' (2), 'bill | card' (1), 'card|urgent' (1);"
        " --class-separator='|' makes each part a class"
    ]
    assert notes_of("Smith, John", "Smith, Anna", "a|b", "c;", "d;") == []


def test_other_labels_are_no_note():
    assert notes_of("refund", "refunds", "delivery", "C", "C++", "C#", "1", "1.0", "ß") == []
    assert folded("Straße") == folded("STRASSE")
    assert folded("e\u0301") == folded("É")


def test_the_labels_that_are_held_are_bounded(monkeypatch):
    monkeypatch.setattr(label_notes, "MOST_COUNTED", 2)
    assert notes_of("a", "b", "nan", "A", "a") == []  # the third and the fourth are not counted


def test_the_console_has_the_same_empty_labels():
    console = files("manyclass.service.http.console") / "static"
    [listed] = re.findall(r"EMPTY_LABELS = (\[.*\]);", (console / "label_words.js").read_text())
    assert {*json.loads(listed)} == {*EMPTY}
