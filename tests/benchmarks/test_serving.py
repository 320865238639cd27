from benchmarks.serving import ACTIVE, instances_of, many_edges


def test_instances_are_half_words_and_half_pairs():
    text = " ".join(f"word{number % 60}" for number in range(120))

    (instance,) = instances_of([(text, ["a"]), ("too short", ["b"])])

    assert len(instance.features) == ACTIVE
    assert instance.features["word0"] == 2
    assert instance.features["word0 word1"] == 2
    assert sum(" " in name for name in instance.features) == ACTIVE // 2
    assert instance.learned() == {"features": instance.features, "classes": ["a"]}


def test_events_make_about_as_many_edges_as_asked_for():
    pairs = {
        (feature, event["classes"][0])
        for event in many_edges(50_000)
        for feature in event["features"]
    }

    assert 0.99 * 50_000 < len(pairs) <= 50_000
