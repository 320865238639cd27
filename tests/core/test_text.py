from core.text import features_of


def test_words_and_pairs_lower_cased():
    assert features_of("The CAT, the cat!") == [
        "the",
        "cat",
        "the",
        "cat",
        "the cat",
        "cat the",
        "the cat",
    ]


def test_words_of_any_script():
    assert features_of("Élan №5 日本 été") == [
        "élan",
        "5",
        "日本",
        "été",
        "élan 5",
        "5 日本",
        "日本 été",
    ]


def test_no_words_no_features():
    assert features_of(" … !? 🎉") == []
