import gzip
import json
from io import BytesIO, StringIO
from zipfile import ZipFile

import pytest

from manyclass.training.lines import FileFault
from manyclass.training.taxonomies.layout import TaxonomyLayout
from manyclass.training.taxonomies.reading import read_taxonomy
from tests.training.tables.files import write_arrow_file, write_parquet_file, write_spreadsheet

SPORTS = {"hockey": "sports", "baseball": "sports"}
ROOTED = {"sports": None, **SPORTS}
PARENTS = {"hockey": "sports", "7": "5", "sports": None}
OBJECT = {"hockey": "sports", "7": 5, "sports": None}
GOOGLE = """# Google_Product_Taxonomy_Version: 2021-09-21
Home & Garden
Home & Garden > Lighting
Home & Garden > Lighting > Lamps, Desk & Table
"""
CONCEPTS = [
    {"@id": "ex:scheme", "@type": "skos:ConceptScheme"},
    {
        "@id": "ex:hockey",
        "@type": ["skos:Concept"],
        "skos:prefLabel": {"@value": "hockey", "@language": "en"},
        "skos:broader": {"@id": "ex:sports"},
        "skos:broaderTransitive": [{"@id": "ex:sports"}],
    },
    {
        "@id": "ex:sports",
        "skos:prefLabel": [{"@value": "sports"}],
        "skos:narrower": [{"@id": "ex:hockey"}, {"@id": "ex:baseball"}],
    },
    {"@id": "ex:baseball", "skos:prefLabel": "baseball"},
]


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a text or bytes as a taxonomy."""

    def read(text, **layout):
        file = tmp_path / "classes"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_taxonomy(str(file), TaxonomyLayout(**layout))

    return read


@pytest.fixture
def refusal(read):
    """Return a function that returns the reason why a text is refused."""

    def refusal(text, **layout):
        with pytest.raises(FileFault) as caught:
            read(text, **layout)
        return caught.value.reason

    return refusal


# --- classes and parents, one a row ---------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(OBJECT),
        json.dumps(OBJECT, indent=2),
        json.dumps({"hockey": ["sports"], "7": 5, "sports": []}),
        json.dumps(
            {"hockey": {"parents": ["sports"], "label": "Hockey"}, "7": {"parent": 5}, "sports": {}}
        ),
        "".join(json.dumps({"class": name, "parent": up}) + "\n" for name, up in OBJECT.items()),
        json.dumps([{"id": name, "broader": up} for name, up in OBJECT.items()]),
        json.dumps([["hockey", "sports"], ["7", 5], ["sports", None]]),
        "hockey,sports\n7,5\nsports,\n",
        "class\tparent\nhockey\tsports\n7\t5\n\nsports\t\n",
        'Class,Parent\n"hockey", sports\n7,5\nsports,""\n',
    ],
)
def test_each_form_says_the_same(read, text):
    assert read(text).parents == PARENTS


HEADERS = [
    "child,parent",
    "CHILD,Parent",
    "id,broader",
    "Category,Parent Category",
    "class,parent",
    "narrower,broader",
    "subClass,superClass",
    "childId,parentId",
    "skos:Concept,skos:broader",
    "Produkt,Parent",
]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_is_no_class_in_either_order(read, header, delimiter):
    child, parent = header.split(",")
    rows = [(child, parent), *SPORTS.items()]
    for order in (1, -1):
        text = "".join(delimiter.join(row[::order]) + "\n" for row in rows)
        tree = read(text)
        assert tree.parents == SPORTS
        assert tree.form == f"columns child={child}, parent={parent}"


def test_a_category_stands_above_its_subcategory(read):
    text = "Category;Subcategory\nsports;hockey\nsports;baseball\n"
    assert read(text).parents == SPORTS


def test_the_summary_says_what_was_understood(read):
    assert read("child,parent,title\nhockey,sports,Ice hockey\nsports,,\n").summary == (
        "read 2 classes, 1 at the top (sports); columns child=child, parent=parent"
        " (not read: title)"
    )
    assert read("hockey,sports\nbaseball,sports\n").summary == (
        "read 2 classes and 1 above them, 1 at the top (sports);"
        " columns child=column 1, parent=column 2"
    )


TABLE = [["child", "parent", "label"], ["hockey", "sports", "Hockey; ice"], ["7", "5", "x, y"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_further_columns_are_left_out(read, delimiter):
    rows = [[f'"{cell}"' for cell in row] for row in TABLE]
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    assert read(text).parents == {"hockey": "sports", "7": "5"}


def test_names_hold_the_commas_of_other_delimiters(read):
    expected = {"pans, pots": "kitchen, bath", "woks, big": "kitchen, bath"}
    for delimiter in ";\t|":
        text = "".join(f"{name}{delimiter}{parent}\n" for name, parent in expected.items())
        assert read(text).parents == expected


def test_spreadsheets_and_parquet_are_read(tmp_path):
    file = tmp_path / "classes.xlsx"
    write_spreadsheet(file, [["The classes of 2026"], [], *TABLE, ["# a note"]])
    expected = {"hockey": "sports", "7": "5"}
    assert read_taxonomy(str(file)).parents == expected
    packed = tmp_path / "classes.zip"
    with ZipFile(packed, "w") as archive:
        archive.write(file, file.name)
    assert read_taxonomy(str(packed)).parents == expected
    file = tmp_path / "classes.parquet"
    columns = {"node": ["hockey", "7"], "parent": ["sports", "5"], "note": ["a", "b"]}
    write_parquet_file(file, **columns)
    assert read_taxonomy(str(file)).parents == expected
    for is_stream in (False, True):
        write_arrow_file(file, is_stream=is_stream, **columns)
        assert read_taxonomy(str(file)).parents == expected


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfchild,parent\r\nhockey,sports\r\nbaseball,sports\r\n",
        "child\tparent\nhockey\tsports\nbaseball\tsports\n".encode("utf-16"),
        b"child,parent\rhockey,sports\rbaseball,sports\r",
        gzip.compress(b"child;parent\nhockey;sports\nbaseball;sports", mtime=0),
        b"child,parent\nhockey,sports\n\xef\xbb\xbfchild,parent\nbaseball,sports\n",
        "\ufeff".encode() + json.dumps(SPORTS).encode(),
        json.dumps(SPORTS).encode("utf-16"),
    ],
)
def test_other_encodings_and_ends_of_lines_are_read(read, data):
    assert read(data).parents == SPORTS


def test_a_zip_archive_is_read(read, refusal):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("classes.csv", "child;parent\nhockey;sports\nbaseball;sports")
    assert read(packed.getvalue()).parents == SPORTS
    with ZipFile(packed, "a") as archive:
        archive.writestr("more.csv", "child;parent\n")
    assert "has 2 files (classes.csv, more.csv): unpack it" in refusal(packed.getvalue())


def test_comments_are_no_classes(read, refusal):
    text = "# sports, of 2026; a\n#\n# child,parent\nhockey,sports\n# between\nbaseball,sports\n"
    assert read(text).parents == SPORTS
    assert read("#child\tparent\nhockey\tsports\nbaseball\tsports\n").parents == SPORTS
    tags = "#hockey,#sports\n#golf,#sports\n"
    assert "line 1: it begins with #" in refusal(tags)
    assert read(tags, comments=False).parents == {"#hockey": "#sports", "#golf": "#sports"}


def test_columns_and_header_may_be_given(read, refusal):
    german = "Klasse,Oberklasse\nhockey,sports\nchess,games\n"
    assert refusal(german).startswith("line 1: `Klasse,Oberklasse` may be the header")
    assert read(german, header=True).parents == {"hockey": "sports", "chess": "games"}
    assert len(read(german, header=False).parents) == 3
    given = {"child": "Klasse", "parent": "Oberklasse"}
    assert read(german, **given).parents == {"hockey": "sports", "chess": "games"}
    three = "x,sports,hockey\ny,sports,golf\n"
    assert "has 3 cells, which may be names of columns or not: add --child-column" in refusal(three)
    given = {"child": "3", "parent": "2", "header": False}
    assert read(three, **given).parents == {"hockey": "sports", "golf": "sports"}
    named = "class,parent\nclass,school\nparent,family\n"
    assert "looks like a header, but a class has such a name too" in refusal(named)
    assert read(named, header=True).parents == {"class": "school", "parent": "family"}
    latin = "café,boissons\nthé,boissons\n".encode("cp1252")
    assert refusal(latin).startswith("line 1 is not UTF-8")
    assert "add --encoding cp1252" in refusal(latin)
    assert read(latin, encoding="cp1252").parents == {"café": "boissons", "thé": "boissons"}


IDS = "id,parent_id,name\n1,,Sports\n2,1,Hockey\n3,1,Other\n4,,Games\n"


def test_classes_with_ids_may_be_named(read, refusal):
    assert read(IDS).parents == {"1": None, "2": "1", "3": "1", "4": None}
    assert read(IDS).form == "columns child=id, parent=parent_id (not read: name)"
    expected = {"Sports": None, "Hockey": "Sports", "Other": "Sports", "Games": None}
    assert read(IDS, name="name").parents == expected
    twice = IDS + "5,4,Other\n"
    assert "the ids '3' and '5' have one name, 'Other': add --names path" in refusal(
        twice, name="name"
    )
    assert read(twice, name="name", names="path").parents["Games > Other"] == "Games"
    unknown = "id,parent_id,name\n2,1,Hockey\n"
    assert refusal(unknown, name="name") == (
        "line 2: there is no name of the id '1': give it a row"
    )


def test_the_parents_tell_the_column_of_the_class(read, refusal):
    text = "id,name,parent\n1,Sports,\n2,Hockey,{}\n"
    assert read(text.format("1")).parents == {"1": None, "2": "1"}
    assert read(text.format("Sports")).parents == {"Sports": None, "Hockey": "Sports"}
    assert "the class may be in the column id, name: add --child-column id" in refusal(
        text.format("Games")
    )
    two = "id,parent_id,name,parent_name\n1,2,a,b\n"
    assert "the parent may be in the columns parent_id, parent_name" in refusal(two)


# --- paths ----------------------------------------------------------------------------------------


def test_the_taxonomy_of_google_is_read(read):
    lamps = "Home & Garden > Lighting > Lamps, Desk & Table"
    whole = {
        "Home & Garden": None,
        "Home & Garden > Lighting": "Home & Garden",
        lamps: "Home & Garden > Lighting",
    }
    tree = read(GOOGLE)
    assert tree.parents == whole
    assert tree.summary.startswith("read 3 classes, 1 at the top (Home & Garden); lines are paths")
    last = {"Home & Garden": None, "Lighting": "Home & Garden", "Lamps, Desk & Table": "Lighting"}
    assert read(GOOGLE, names="last").parents == last
    assert read(f"{lamps}\n", separator=" > ").parents == whole  # classes above it are placed too
    lines = GOOGLE.splitlines()[1:]
    ids = "\n".join(f"{number} - {line}" for number, line in zip((536, 594, 7), lines, strict=True))
    assert read(ids).parents == whole
    assert read(ids, names="id").parents == {"536": None, "594": "536", "7": "594"}
    assert read(json.dumps(lines)).parents == whole


def test_paths_of_other_notations_are_read(read, refusal):
    slashes = "sports\nsports/hockey\nsports/baseball\n"
    assert "if it is a path, add --path-separator '/'" in refusal(slashes)
    assert read(slashes, separator="/", names="last").parents == ROOTED
    assert read(slashes, separator="/").parents["sports/hockey"] == "sports"
    assert read("sports>hockey\nsports>baseball\n", names="last").parents == ROOTED
    table = "id,path\n1,sports > hockey\n2,sports > baseball\n"
    assert read(table, names="last").parents == ROOTED
    levels = "Level 1,Level 2\nsports,\nsports,hockey\nsports,baseball\n"
    assert "may be named 'hockey' or 'sports > hockey': add --names last" in refusal(levels)
    assert read(levels, names="last").parents == ROOTED
    assert read(levels, names="path").parents["sports > hockey"] == "sports"


def test_a_header_above_paths_is_told_from_a_class(read, refusal, tmp_path):
    text = "category\nHome > Lamps\nHome > Lamps, Desk\n"
    assert refusal(text).startswith("line 1: `category` may be the header")
    expected = {"Home": None, "Home > Lamps": "Home", "Home > Lamps, Desk": "Home"}
    assert read(text, header=True).parents == expected
    assert read(text, header=False).parents == {"category": None, **expected}
    file = tmp_path / "paths.xlsx"
    write_spreadsheet(file, [["category"], ["Home > Lamps"]])
    with pytest.raises(FileFault, match="row 1: `category` may be the header"):
        read_taxonomy(str(file))
    tree = read_taxonomy(str(file), TaxonomyLayout(header=True))
    assert tree.parents == {"Home": None, "Home > Lamps": "Home"}


def test_rows_whose_names_are_paths_are_a_table(read, refusal):
    rows = {"Kitchen > Pans": "Kitchen", "Kitchen > Woks": "Kitchen"}
    assert read("".join(f"{name},{up}\n" for name, up in rows.items())).parents == rows
    doubtful = "Food, Drinks > Tea\nFood, Drinks > Cola\n"
    assert "line 1: `Food, Drinks > Tea` may be a path or a row" in refusal(doubtful)
    assert len(read(doubtful, separator=">").parents) == 3


def test_other_lines_tell_whether_a_line_with_a_comma_is_a_path(read, refusal):
    half = "Sports > Hockey\nSports > Games, other\n"
    assert "line 1: `Sports > Hockey` may be a path or a row" in refusal(half)
    assert len(read(half + "Sports > Golf\n").parents) == 4
    assert len(read("# of games,2026\nSports > Hockey\n").parents) == 2
    assert "line 2: it has 1 cell" in refusal("class,parent\nsports\nhockey > ice,sports\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("category\nHome > Lamps\n", "line 1: `category` may be the header"),
        ("Home\nHome >  > Lamps\n", "line 2: a part of the path is empty"),
        ("a > x\nb > x\n", "line 2: class 'x' is below 'b', and below 'a' in line 1"),
        ("a > b > a\n", "line 1: class 'a' is at the top, and below 'b'"),
    ],
)
def test_paths_that_leave_a_doubt_are_refused(refusal, text, message):
    reason = refusal(text, names="last")
    assert message in reason or "add --names path" in reason


# --- JSON -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        {"sports": {"hockey": {}, "baseball": {}}},
        {"sports": {"hockey": None, "baseball": []}},
        {"sports": ["hockey", "baseball"]},
        {"sports": [{"hockey": {}}, "baseball"]},
        {"sports": [{"name": "hockey"}, {"name": "baseball"}]},
        {"sports": ["hockey", "baseball"], "hockey": []},
        {"sports": {"label": "S", "children": ["hockey", "baseball"]}, "hockey": {"label": "H"}},
        {"name": "sports", "children": [{"name": "hockey", "children": []}, {"name": "baseball"}]},
        {"name": "sports", "children": ["hockey", "baseball"]},
        [{"name": "sports", "children": ["hockey", "baseball"]}],
        [{"text": "sports", "nodes": [{"text": "hockey"}, {"text": "baseball"}]}],
        [{"sports": ["hockey", "baseball"]}],
        {"nodes": [{"id": "sports"}, *({"id": n, "parent": "sports"} for n in SPORTS)]},
        [{"id": "sports", "narrower": ["hockey", "baseball"]}, {"id": "hockey"}],
    ],
)
def test_each_tree_of_json_says_the_same(read, document):
    assert read(json.dumps(document)).parents == ROOTED
    assert read(json.dumps(document, indent=1)).parents == ROOTED


def test_the_concepts_of_skos_are_read(read):
    document = json.dumps({"@context": {"skos": "http://x/"}, "@graph": CONCEPTS})
    parents = {f"ex:{name}": parent and f"ex:{parent}" for name, parent in ROOTED.items()}
    assert read(document).parents == parents
    assert read(document, name="skos:prefLabel").parents == ROOTED
    long = document.replace("skos:broader", "http://www.w3.org/2004/02/skos/core#broader")
    assert read(long).parents == parents
    flat = [{"id": name, "prefLabel": name.upper(), "broader": up} for name, up in SPORTS.items()]
    assert read(json.dumps(flat), child="id").parents == SPORTS


def test_a_class_in_two_branches_has_two_paths(read, refusal):
    document = json.dumps({"sports": {"other": {}}, "games": {"other": {}}})
    assert refusal(document) == (
        "/games/other: class 'other' is below 'games', and below 'sports' in /sports/other:"
        " a taxonomy is a tree; add --names path, for names with those above them"
    )
    assert read(document, names="path").parents["games > other"] == "games"


def test_lists_are_children_or_parents_by_the_one_reading_that_makes_a_tree(read, refusal):
    assert read('{"hockey": ["sports"], "baseball": ["sports"]}').parents == SPORTS
    one = '{"hockey": ["sports"]}'
    assert "'hockey' may be below 'sports' or above it: add --lists children" in refusal(one)
    assert read(one, lists="parents").parents == {"hockey": "sports"}
    assert read(one, lists="children").parents == {"hockey": None, "sports": "hockey"}
    several = '{"hockey": ["sports", "winter"], "golf": ["sports"]}'
    assert "classes have several parents" in refusal(several)
    assert read(several, lists="parents", first_parent=True).parents == {
        "hockey": "sports",
        "golf": "sports",
    }


def test_a_single_line_is_an_object_of_one_class(read):
    assert read('{"class": "a", "parent": "b"}').parents == {"a": "b"}
    assert read('{"class": "a"}').parents == {"class": "a"}


def test_names_that_may_be_ids_are_asked_for(read, refusal):
    text = '[{"id": 1, "name": "sports", "rank": 1, "children": [{"id": 2, "name": "hockey"}]}]'
    assert "the class may be in id, name: add --child-column id" in refusal(text)
    assert read(text, child="id").parents == {"1": None, "2": "1"}
    assert read(text, child="name").parents == {"sports": None, "hockey": "sports"}


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("\n \n", "it is empty"),
        ("child,parent\n", "it has a header and no rows"),
        ("# nothing\n", "it is empty"),
        ("a,b\nb\n", "line 2: it has 1 cell, not a class and its parent"),
        ("a,b\nb,c\nd,b,e\n", "line 3: it has 3 cells, not 2"),
        ("child,parent\na,b\nc,d,e\n", "line 3: it has 3 cells, not 2"),
        ("a,b\n,b\n", "line 2: the cell of its class is empty"),
        ("a,b\nb,b\n", "line 2: class 'b' is its own parent"),
        ("a,b\nb,c\na,c\n", "line 3: class 'a' is below 'c', and below 'b' in line 1"),
        ("a,b\nb,\na,\n", "line 3: class 'a' is at the top, and below 'b' in line 1"),
        ("x,a\na,b\nb,c\nc,a\n", "class 'a' is below 'b' (line 3), which is below 'c' (line 4)"),
        ("a,NULL\nb,a\n", "line 1: the parent 'NULL' may be a class or none: add --top NULL"),
        ('child,parent\n"a,b\n', "line 2: the quote opened in line 2 is not closed"),
        ("sports\nhockey\n", "line 1: it has 1 cell, not a class and its parent"),
        ('{"a": "b", "a": "c"}', "/a: class 'a' is below 'c', and below 'b'"),
        ('{"a": "b", "b": "a"}', "/a: class 'a' is below 'b' (/b), which is below it"),
        ('{"a": 5.5}', "/a: 5.5 is not the name of a class"),
        ('{"a": [true]}', "/a: True is not the name of a class"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": "\\ud800"}', "is not text"),
        ('{"a":\n"b",}', "line 2: it is not JSON"),
        ('{"class": "a", "parent": "b"}\n{"cl\n', "line 2: it is not JSON"),
        ('{"sports": {"hockey": "puck"}}', "/sports/hockey: 'puck' may be a class below or a note"),
        ('{"people": {"children": ["toddlers"]}}', "/people: `children` may be a class"),
        ('["hockey", "sports"]', "it is an array of names without parents"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 5_000 + "{}" + "}" * 5_000, "nested too deeply"),
        (b"a,\xff\n", "line 1 is not UTF-8"),
        (b"PK\x03\x04 no zip", " "),
        (b"PAR1 cut", "it is not a whole file of Parquet or Arrow"),
        ("<rdf:RDF>", "this looks like XML"),
        ("@prefix skos: <x> .", "this looks like Turtle"),
        ("<rdf:RDF>", "`manyclass classes describe --broader` reads SKOS"),
    ],
)
def test_a_fault_is_named_with_its_place(refusal, text, message):
    assert message in refusal(text)


def test_options_settle_what_is_refused(read):
    assert read("a,NULL\nb,a\n", top="NULL").parents == {"a": None, "b": "a"}
    several = "hockey,winter\nhockey,sports\nhockey,\n"
    assert read(several, first_parent=True).parents == {"hockey": "sports"}
    first = "sports,hockey\nsports,baseball\n"
    assert read(first, child="2", parent="1").parents == SPORTS


def test_standard_input_is_read_but_for_parquet(monkeypatch):
    class Given(StringIO):
        buffer = None

    given = Given()
    monkeypatch.setattr("sys.stdin", given)
    given.buffer = BytesIO(b"child;parent\nhockey;sports\nbaseball;sports\n")
    assert read_taxonomy("-").parents == SPORTS
    given.buffer = BytesIO(b"PAR1")
    with pytest.raises(FileFault, match="standard input: Parquet and Arrow are read from a file"):
        read_taxonomy("-")


def test_a_file_that_is_not_there():
    with pytest.raises(FileFault):
        read_taxonomy("/nowhere")


def test_a_file_that_is_too_large_is_refused(read, monkeypatch):
    monkeypatch.setattr("manyclass.training.taxonomies.reading.LARGEST", 5)
    with pytest.raises(FileFault, match="more than 5 bytes"):
        read("child,parent\na,b\n")
