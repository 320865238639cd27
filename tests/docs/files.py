"""Files that the pages name and a reader has: labelled instances, a taxonomy."""

import csv
import gzip
import json
from importlib.resources import files

import numpy as np

HOCKEY = ["the goalie stopped the puck", "a slap shot from the blue line", "two minutes for icing"]
BASEBALL = ["a home run over the fence", "the pitcher threw a fast ball", "three strikes and out"]
INTENTS = """class,title,description,alt_labels
c-17,Lost card,The card is gone,Karte verloren|carte perdue
c-18,Card arrival,,
"""
TOPICS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix t: <http://example.org/topics/> .
t:cards skos:prefLabel "Cards"@en, "Karten"@de .
t:c-17 skos:prefLabel "Lost card"@en, "Karte verloren"@de ;
    skos:altLabel "Card gone"@en ; skos:broader t:cards ;
    skos:definition "The customer cannot find the card."@en .
"""


def sample(count):
    """Return the first questions of the sample that ships with the service."""
    stored = files("manyclass.service.samples").joinpath("banking77.jsonl.gz").read_bytes()
    return [json.loads(line) for line in gzip.decompress(stored).decode().splitlines()[:count]]


def vector_of(text):
    """Return a small vector of a text: how often each of eight kinds of letters is in it."""
    counts = [1, *[0] * 8]
    for letter in text:
        counts[1 + ord(letter) % 8] += 1
    return counts


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_files(folder):
    """Write the files that pages take as given."""
    sports = [
        {"text": text, "classes": [name]}
        for name, texts in (("hockey", HOCKEY), ("baseball", BASEBALL))
        for text in texts
    ]
    rows = sample(600)
    (folder / "labels.jsonl").write_text(lines(sports))
    (folder / "tickets.jsonl").write_text(lines(rows))
    (folder / "news.jsonl").write_text(lines(rows[:200]))
    (folder / "new.jsonl").write_text(lines(rows[200:300]))
    (folder / "questions.jsonl").write_text(lines({"text": row["text"]} for row in rows[:20]))
    with gzip.open(folder / "news.jsonl.gz", "wt") as file:
        file.write(lines(rows[:200]))
    with gzip.open(folder / "tenders.jsonl.gz", "wt") as file:
        file.write(lines(rows[:120]))
    parents = {name: name.split("_")[0] for row in rows for name in row["classes"]}
    (folder / "parents.json").write_text(json.dumps(parents))
    (folder / "sports.csv").write_text("ice-hockey,sports\nbaseball,sports\nchess,games\n")
    noted = "class,parent,note\nhockey,sports,on ice\nbaseball,sports,\n"
    (folder / "taxonomy.csv").write_text(noted)
    (folder / "intents.csv").write_text(INTENTS)
    (folder / "topics.ttl").write_text(TOPICS)
    for name, some in (("tickets.csv", rows), ("questions.csv", rows[:100]), ("new.csv", rows[:5])):
        with (folder / name).open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["question", "intent"])
            table.writerows([row["text"], row["classes"][0]] for row in some)
    with (folder / "embedded.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "intent", "embedding"])
        table.writerows([row["text"], row["classes"][0], vector_of(row["text"])] for row in rows)
    np.save(folder / "new.npy", np.array([vector_of(row["text"]) for row in rows[:5]], "f4"))
    (folder / "lines.jsonl").write_text(
        lines({"question": row["text"], "intent": row["classes"][0]} for row in rows[:20])
    )
