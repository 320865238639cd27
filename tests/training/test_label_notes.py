import json
import re
from importlib.resources import files

from manyclass.training import label_notes
from manyclass.training.label_notes import EMPTY, LabelNotes
from manyclass.training.label_survey import clusters_of, joined_by, plain_label


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
        "labels that differ only by case, blanks, accents, width, - or _ are classes of their own: "
    )
    for group in ("'Refund' (2) and 'refund' (1)", "'Café' (1) and 'cafe' (1)"):
        assert group in note
    assert "'AB' (1) and '\uff21B' (1)" in note
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
    assert plain_label("Straße") == plain_label("STRASSE")
    assert plain_label("e\u0301") == plain_label("É")


def clusters(is_spelling, *labels, **more):
    counts = dict.fromkeys(labels, 1) | more
    return [each.labels for each in clusters_of(counts) if each.is_spelling == is_spelling]


def test_close_labels_are_clusters_but_no_codes_and_no_short_ones():
    close = clusters(False, "waste", "wsate", "wastes", "wasted food", "cat", "car", waste=3)
    assert close == [["waste", "wastes", "wsate"]]
    codes = ["2136", "2137", "gnd:4011455-7", "gnd:4011456-7", "Level 1", "Level 2"]
    assert clusters(False, *codes) == clusters(True, "a1", "A1") == []
    assert clusters(False, "lamps", "Lamps", "lanps") == [["Lamps", "lanps"]]


def test_cells_with_several_classes_are_counted_by_their_separator():
    found = joined_by({"a; b": 2, "c;d": 1, ";": 4, "x, y": 1, "x": 1, "y": 1, "Smith, J.": 9})
    assert found == [(";", 3, "a; b"), (",", 1, "x, y")]


def test_the_labels_that_are_held_are_bounded(monkeypatch):
    monkeypatch.setattr(label_notes, "MOST_COUNTED", 2)
    assert notes_of("a", "b", "nan", "A", "a") == []  # the third and the fourth are not counted


def test_the_console_has_the_same_empty_labels():
    console = files("manyclass.service.http.console") / "static"
    [listed] = re.findall(r"EMPTY_LABELS = (\[.*\]);", (console / "label_words.js").read_text())
    assert {*json.loads(listed)} == {*EMPTY}
