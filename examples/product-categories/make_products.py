"""Write a made-up shop: its categories with their parents, and products in two CSV files.

A title has a brand, which sells in several families, words that any product may have, and mostly a
word of its family and the noun of its category. Without the noun at best the family can be told
from it, without both not even that. Few categories have most products.
"""

import csv
import random
from pathlib import Path

ANY_WORDS = [
    *("black", "white", "blue", "green", "grey", "large", "small", "compact", "premium", "classic"),
    *("lightweight", "folding", "steel", "aluminium", "bamboo", "2-pack", "set of 3", "gift box"),
    *("refurbished", "new model"),
]
WITH_NOUN, WITH_FAMILY_WORD = 0.7, 0.6
PRODUCTS, NEW = 2_000, 1_000

Row = dict[str, str]


def read(name: str) -> list[Row]:
    """Return the rows of a CSV file."""
    with Path(name).open(newline="") as file:
        return list(csv.DictReader(file))


def write(name: str, rows: list[list[str]]) -> None:
    """Write a CSV file."""
    with Path("data", name).open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def parent(path: str) -> str:
    """Return the path of the node above: `Kitchen > Cookware` of `Kitchen > Cookware > Woks`."""
    return path.rpartition(" > ")[0]


def title(category: Row, family: Row, chance: random.Random) -> str:
    """Return a title of a product in a category of a family."""
    words = chance.sample(ANY_WORDS, 2)
    if chance.random() < WITH_FAMILY_WORD:
        words.append(chance.choice(family["words"].split("|")))
    if chance.random() < WITH_NOUN:
        words.append(chance.choice(category["nouns"].split("|")))
    chance.shuffle(words)
    return " ".join([chance.choice(family["brands"].split("|")), *words])


def main() -> None:
    """Write data/parents.csv, data/products.csv and data/new.csv."""
    categories = read("categories.csv")
    families = {row["family"]: row for row in read("families.csv")}
    chance = random.Random(18)
    chance.shuffle(categories)
    frequencies = [1 / (place + 3) for place in range(len(categories))]
    products = [
        [f"sku-{number}", title(row, families[parent(row["category"])], chance), row["category"]]
        for number, row in enumerate(chance.choices(categories, frequencies, k=PRODUCTS + NEW))
    ]
    names = ["sku", "title", "category"]
    Path("data").mkdir(exist_ok=True)
    write("products.csv", [names, *products[:PRODUCTS]])
    write("new.csv", [names, *products[PRODUCTS:]])
    paths = [*families, *(row["category"] for row in categories)]
    write("parents.csv", [[path, parent(path)] for path in sorted(paths)])


if __name__ == "__main__":
    main()
