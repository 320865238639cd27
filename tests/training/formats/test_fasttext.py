def test_labels_and_the_text_between_them(read):
    assert read("fasttext", b"__label__a __label__b Stop\tthe puck\n__label__a\n") == [
        ("Stop the puck", ["a", "b"]),
        ("", ["a"]),
    ]


def test_labels_behind_the_words(read):
    assert read("fasttext", "nordsjøen, stop __label__é-1 now".encode()) == [
        ("nordsjøen, stop now", ["é-1"])
    ]


def test_a_line_without_a_label_is_rejected(read):
    assert read("fasttext", b"stop __labelled__ puck") == [
        "no true class: no word begins with __label__"
    ]
