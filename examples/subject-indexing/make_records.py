"""Write a made-up library: an old catalogue, and acquisitions, as titles with subject headings.

A title names one to three subjects and perhaps a place. Several subjects share phrases, such as
*monks* and *the stage*. One book in four has a subject that its title does not name, indexers leave
out one heading in ten, and some headings are far commoner than others. Headings that `headings.csv`
has since 1 are given to the later half of the acquisitions only.
"""

import csv
import random
from pathlib import Path

CATALOGUE, ACQUISITIONS = 1_000, 4_000
LEFT_OUT = 0.1
NOT_NAMED = 0.25

ONE = ["{a}", "A history of {a}", "On {a}", "{a}: an introduction", "The story of {a}"]
TWO = ["{a} and {b}", "{a}: a study in {b}", "From {a} to {b}", "{a} in the light of {b}"]
THREE = ["{a}, {b} and {c}", "{a} between {b} and {c}", "{a}: essays on {b} and {c}"]
PLACES = ["{title} in {place}", "{title}: {place}, 1850 to 1914", "{title} from {place}"]

Row = dict[str, str]


def read(name: str) -> list[Row]:
    """Return the rows of a CSV file."""
    with Path(name).open(newline="") as file:
        return list(csv.DictReader(file))


def phrase(heading: Row, chance: random.Random) -> str:
    """Return a phrase of a heading."""
    return chance.choice(heading["phrases"].split("|"))


def record(headings: list[Row], places: list[Row], chance: random.Random) -> tuple[str, list[str]]:
    """Return a title and its headings."""
    frequencies = [1 / (place + 10) for place in range(len(headings))]
    drawn = chance.choices(headings, frequencies, k=chance.choice([1, 2, 2, 3]))
    subjects = [each for place, each in enumerate(drawn) if each not in drawn[:place]]
    template = chance.choice([ONE, TWO, THREE][len(subjects) - 1])
    phrases = [phrase(each, chance) for each in subjects]
    title = template.format_map(dict(zip("abc", phrases, strict=False)))
    if chance.random() < 0.4:
        place = chance.choice(places)
        title = chance.choice(PLACES).format(title=title, place=phrase(place, chance))
        subjects.append(place)
    if chance.random() < NOT_NAMED:
        subjects += chance.sample([each for each in headings if each not in subjects], 1)
    names = [each["heading"] for each in subjects]
    kept = [name for name in names if chance.random() >= LEFT_OUT]
    return title[0].upper() + title[1:], sorted(kept or names[:1])


def main() -> None:
    """Write data/catalogue.csv and data/acquisitions.csv."""
    headings, places = read("headings.csv"), read("places.csv")
    chance = random.Random(7)
    chance.shuffle(headings)
    former = [row for row in headings if row["since"] == "0"]
    rows = []
    for number in range(CATALOGUE + ACQUISITIONS):
        is_late = number >= CATALOGUE + ACQUISITIONS / 2
        title, subjects = record(headings if is_late else former, places, chance)
        rows.append([f"r-{number}", title, "|".join(subjects)])
    Path("data").mkdir(exist_ok=True)
    for name, some in (("catalogue", rows[:CATALOGUE]), ("acquisitions", rows[CATALOGUE:])):
        with Path("data", f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["record", "title", "subjects"], *some])


if __name__ == "__main__":
    main()
