"""Files that describe classes: tables, JSON, SKOS, and what cannot be read."""

import gzip
import json

import pytest
from rdflib import Graph

from manyclass.training.descriptions import skos
from manyclass.training.descriptions.layout import DescriptionLayout
from manyclass.training.descriptions.reading import read_descriptions
from manyclass.training.lines import FileFault
from tests.training.tables.files import write_parquet_file, write_spreadsheet

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://example.org/c/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
ex:scheme a skos:ConceptScheme ; skos:prefLabel "Games"@en .
ex:sport a skos:Concept ; skos:prefLabel "Sport"@en, "Sport"@de ; skos:notation "7" ;
  skos:narrower ex:ball .
ex:hockey a skos:Concept ; skos:notation "7.1" ; skos:broader ex:sport ;
  skos:prefLabel "Ice hockey"@en-GB, "Eishockey"@de ; skos:altLabel "Puck"@en ;
  skos:scopeNote "Not on grass."@en ; skos:definition "A game on ice."@en, "Spiel auf Eis"@de .
ex:ball skos:prefLabel "Ball game"@en ; skos:notation "7.2" ;
  skos:definition [ rdf:value "With a ball."@en ] .
"""
ENGLISH = {
    "hockey": {
        "title": "Ice hockey",
        "description": "A game on ice.",
        "alt_labels": ["Eishockey", "Puck"],
    },
    "ball": {"title": "Ball game", "description": "With a ball."},
    "sport": {"title": "Sport"},
}


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def read(file, **layout):
    """Return the changes of each class, the faults, and the form."""
    found = read_descriptions(file, DescriptionLayout(**layout))
    return {row.name: row.changes for row in found.rows}, found.faults, found.form


def refused(file, **layout):
    with pytest.raises(FileFault) as caught:
        read(file, **layout)
    return str(caught.value)


ROWS = [
    ["Class", "Title", "Description", "Other names", "Owner"],
    ["hockey", "Ice hockey", "On ice.", "Eishockey | Puck", "ann"],
    ["ball", " Ball ", "", "", ""],
    ["empty", "", "", "", "ben"],
]
FOUND = {
    "hockey": {
        "title": "Ice hockey",
        "description": "On ice.",
        "alt_labels": ["Eishockey", "Puck"],
    },
    "ball": {"title": "Ball"},
}


def test_a_table_of_every_kind(tmp_path):
    lines = "\n".join(";".join(row) for row in ROWS)
    write_spreadsheet(tmp_path / "a.xlsx", ROWS)
    write_parquet_file(
        tmp_path / "a.parquet",
        **{name: [row[at] for row in ROWS[1:]] for at, name in enumerate(ROWS[0])},
    )
    for file in (
        write(tmp_path / "a.csv", lines),
        write(tmp_path / "a.csv.gz", gzip.compress(lines.encode())),
        write(tmp_path / "b.csv", lines.encode("utf-16")),
        str(tmp_path / "a.xlsx"),
        str(tmp_path / "a.parquet"),
    ):
        found, faults, form = read(file)
        assert (found, faults) == (FOUND, []), file
        assert form.startswith("columns class=Class, title=Title")
        assert form.endswith("(not read: Owner)")


def test_columns_by_option_and_lists_in_cells(tmp_path):
    content = 'id,en,de,also\n1,One,Eins,"[\'Uno\', ""Un""]"\n2,Two,Zwei,Dos;Deux\n'
    file = write(tmp_path / "a.csv", content)
    options = {"title": "en", "others": "4", "separator": ";"}
    assert read(file, **options)[0] == {
        "1": {"title": "One", "alt_labels": ["Uno", "Un"]},
        "2": {"title": "Two", "alt_labels": ["Dos", "Deux"]},
    }
    assert read(file, name="de", title="en")[0] == {
        "Eins": {"title": "One"},
        "Zwei": {"title": "Two"},
    }
    file = write(tmp_path / "b.csv", "1,One\n2,Two\n")
    assert read(file, name="1", title="2", header=False)[0] == {
        "1": {"title": "One"},
        "2": {"title": "Two"},
    }


def test_an_empty_cell_is_removed_only_if_the_file_replaces(tmp_path):
    file = write(tmp_path / "a.csv", "class,title,description\na,A,\nb,,\n")
    assert read(file)[0] == {"a": {"title": "A"}}
    gone = {"description": None, "alt_labels": None, "vector": None}
    assert read(file, replaces=True)[0] == {
        "a": {"title": "A", **gone},
        "b": {"title": None, **gone},
    }


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty"),
        ("name,title\na,A\n", "no column is known to have the class, of name, title"),
        (
            "class,x\na,A\n",
            "--title-column COLUMN or --description-column COLUMN or --names-column",
        ),
        (
            "class,id,title\na,b,c\n",
            "the class may be in the columns class, id: add --class-column",
        ),
        ("class,title,heading\na,b,c\n", "the title may be in the columns title, heading"),
        ('["a"]', "it is not an array of objects"),
        ("<?xml version='1.0'?><a", "it is not RDF/XML that can be read: <unknown>:1:21"),
        ("<?xml version='1.0'?><html/>", "it has no concept of SKOS"),
        ("@prefix a: <b> .\na:b a", "it is not Turtle that can be read"),
        (b"class,title\na,\xff\xfe\x81\n", "--encoding"),
    ],
)
def test_a_file_that_cannot_be_read_says_the_way_on(tmp_path, content, reason):
    assert reason in refused(write(tmp_path / "a.txt", content))


def test_rows_at_fault_are_named_and_others_read(tmp_path):
    long = "x" * 1001
    file = write(tmp_path / "a.csv", f"class,title\na,A\n,B\na,C\nd,{long}\n{'e' * 5000},E\nf,F\n")
    found, faults, _ = read(file)
    assert found == {"a": {"title": "A"}, "f": {"title": "F"}}
    assert faults[0] == "line 3: a class name is empty"
    assert faults[1] == "line 4: the class 'a' is in line 2 too"
    assert faults[2] == "line 5: title has at most 1000 characters, not 1001"
    assert faults[3].startswith("line 6: ")
    assert len(faults) == 4


def test_objects_on_lines_and_in_an_array(tmp_path):
    objects = [
        {"class": "a", "title": "A", "alt_labels": ["x"], "vector": [1, 2.5]},
        {"class": 7, "parent": 5, "title": None},
        {"class": "b", "parent": None},
    ]
    lines = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, objects)) + "\n\n")
    array = write(tmp_path / "a.json", json.dumps(objects))
    for file in (lines, array):
        found = read_descriptions(file, DescriptionLayout())
        assert [row.body for row in found.rows] == [
            objects[0],
            {"class": "7", "parent": "5", "title": None},
            objects[2],
        ]


def test_a_vector_of_an_object_has_each_form_of_the_service(tmp_path):
    vectors = [[1, 2.5], "AACAPwAAIEA=", {"int8": "AgU="}]
    lines = [json.dumps({"class": str(at), "vector": each}) for at, each in enumerate(vectors)]
    lines += ['{"class": "x", "vector": "@@"}', '{"class": "y", "vector": {"int4": "AgU="}}']
    found, faults, _ = read(write(tmp_path / "a.jsonl", "\n".join(lines)))
    assert [each["vector"] for each in found.values()] == vectors
    assert [each.partition(":")[0] for each in faults] == ["line 4", "line 5"]
    assert "must be standard base64" in faults[0]


def test_objects_at_fault_are_named(tmp_path):
    bad = [
        '{"class": "a", "titel": "A"}',
        '{"title": "A"}',
        '{"class": true, "title": "A"}',
        '{"class": "b", "parent": ["c"]}',
        '{"class": "c", "title": 5}',
        '{"class": "d", "alt_labels": "x"}',
        '{"class": "e", "vector": [0, 0]}',
        "[1]",
        "{",
        '{"class": "good", "title": "G"}',
    ]
    found, faults, _ = read(write(tmp_path / "a.jsonl", "\n".join(bad[:1] + bad)))
    assert found == {"good": {"title": "G"}}
    assert [each.partition(":")[0] for each in faults] == [f"line {at}" for at in range(1, 11)]
    for fault, reason in zip(
        faults[1:],
        (
            "did you mean `title`",
            "the class is missing",
            "`class` must be a name",
            "`parent` must be a name",
            "title must be a string",
            "alt_labels must be an array",
            "must be finite, and not all of them 0",
            "not an object of JSON",
            "not an object of JSON",
        ),
        strict=True,
    ):
        assert reason in fault


def test_a_vocabulary_in_both_forms(tmp_path):
    turtle = write(tmp_path / "a.ttl", TURTLE)
    graph = Graph()
    graph.parse(data=TURTLE, format="turtle")
    xml = write(tmp_path / "a.rdf", graph.serialize(format="xml"))
    triples = write(tmp_path / "a.nt", graph.serialize(format="nt"))
    for file, kind in ((turtle, "Turtle"), (xml, "RDF/XML"), (triples, "Turtle")):
        found, faults, form = read(file, languages=("en",))
        assert (found, faults) == (ENGLISH, [])
        assert form.startswith(f"SKOS as {kind}, named by the last part of the URI")


def test_the_languages_of_titles_are_chosen_by_the_user(tmp_path):
    file = write(tmp_path / "a.ttl", TURTLE)
    reason = refused(file)
    assert "its titles are in 3 languages (de, en, en-gb)" in reason
    assert "--language de, or several in the order of preference, as --language de,en" in reason
    german = read(file, languages=("de", "en"))[0]
    assert german["hockey"]["title"] == "Eishockey"
    assert german["hockey"]["description"] == "Spiel auf Eis"
    assert german["hockey"]["alt_labels"] == ["Ice hockey", "Puck"]
    assert german["ball"]["title"] == "Ball game"
    british = read(file, languages=("fr", "en-GB"))[0]
    assert british["hockey"]["title"] == "Ice hockey"
    one = write(tmp_path / "b.ttl", TURTLE.replace("@de", "@en").replace("@en-GB", "@en"))
    assert read(one)[2].endswith("titles in en")


def test_concepts_are_named_by_the_notation_or_the_uri(tmp_path):
    file = write(tmp_path / "a.ttl", TURTLE)
    assert read(file, languages=("en",), name_from="notation")[0].keys() == {"7", "7.1", "7.2"}
    uris = read(file, languages=("en",), name_from="uri")[0].keys()
    assert uris == {f"http://example.org/c/{name}" for name in ENGLISH}
    lacking = write(tmp_path / "b.ttl", TURTLE.replace('skos:notation "7.2"', 'skos:notation "7"'))
    assert read(lacking, languages=("en",), name_from="notation")[1] == [
        "http://example.org/c/sport: the class '7' is in http://example.org/c/ball too"
    ]
    lacking = write(tmp_path / "c.ttl", TURTLE.replace(' skos:notation "7" ;', ""))
    assert read(lacking, languages=("en",), name_from="notation")[1] == [
        "http://example.org/c/sport: it has 0 notations, not 1: add --name-from uri-end"
    ]


def test_broader_concepts_become_parents(tmp_path):
    file = write(tmp_path / "a.ttl", TURTLE)
    found = read_descriptions(file, DescriptionLayout(languages=("en",), broader=True))
    assert {row.name: row.placed for row in found.rows} == {
        "sport": {"parent": None},
        "hockey": {"parent": "sport"},
        "ball": {"parent": "sport"},
    }
    assert all("parent" in row.body for row in found.rows)
    two = write(tmp_path / "b.ttl", TURTLE + "ex:hockey skos:broader ex:ball .\n")
    assert "--first-parent" in refused(two, languages=("en",), broader=True)
    found = read_descriptions(
        two, DescriptionLayout(languages=("en",), broader=True, first_parent=True)
    )
    assert {row.name: row.placed["parent"] for row in found.rows}["hockey"] == "ball"
    circle = write(tmp_path / "c.ttl", TURTLE + "ex:sport skos:broader ex:hockey .\n")
    assert "hockey" in refused(circle, languages=("en",), broader=True)


def test_without_the_package_the_way_to_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(skos, "find_spec", lambda name: None)
    assert "pip install 'manyclass[skos]'" in refused(write(tmp_path / "a.ttl", TURTLE))
