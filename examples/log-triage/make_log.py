"""Write a made-up log of a shop's servers, in order, with the kind of trouble of each line.

Kinds that `templates.csv` has since 1 appear in the second half only. A line may be cut short, as
by a limit of its length.
"""

import csv
import json
import random
from pathlib import Path

LINES = 4_000
CUT_SHORT = 0.3

VALUES = {
    "device": ["sda1", "sdb1", "nvme0n1p2", "dm-0"],
    "module": ["orders", "cart", "inventory", "search", "profiles", "prices"],
    "program": ["postgres", "java", "nginx", "redis-server", "orders", "search"],
    "user": ["admin", "root", "anna", "ben", "deploy", "chiara", "oracle"],
    "host": ["shop.example", "mail.example", "bank.example", "api.partner.example"],
    "path": ["/var/lib/postgresql/base/1663", "/var/log/syslog", "/srv/spool/out"],
}


def values(chance: random.Random) -> dict[str, str]:
    """Return a value for each parameter of a template."""
    drawn = {name: chance.choice(several) for name, several in VALUES.items()}
    address = ".".join(str(chance.randrange(1, 255)) for _ in range(4))
    number, small = str(chance.randrange(100, 99_999)), str(chance.randrange(2, 20))
    return drawn | {
        "address": address,
        "number": number,
        "small": small,
        "hex": f"{chance.randrange(16**10):010x}",
    }


def line(template: dict[str, str], chance: random.Random) -> str:
    """Return a line of the log made of a template."""
    message = template["message"].format_map(values(chance))
    if chance.random() < CUT_SHORT:
        words = message.split()
        message = " ".join(words[: chance.randrange(2, len(words))])
    host = f"{chance.choice(['web', 'db', 'app'])}-{chance.randrange(1, 9)}"
    return f"{host} {template['program']}[{chance.randrange(300, 32_000)}]: {message}"


def main() -> None:
    """Write data/log.jsonl."""
    with Path("templates.csv").open(newline="") as file:
        templates = list(csv.DictReader(file))
    chance = random.Random(5)
    kinds = sorted({row["kind"] for row in templates})
    frequencies = {kind: chance.uniform(0.3, 1) ** 2 for kind in kinds}
    Path("data").mkdir(exist_ok=True)
    with Path("data", "log.jsonl").open("w") as log:
        for number in range(LINES):
            known = [row for row in templates if row["since"] == "0" or number >= LINES / 2]
            [template] = chance.choices(known, [frequencies[row["kind"]] for row in known])
            text = line(template, chance)
            log.write(json.dumps({"line": text, "kind": template["kind"]}) + "\n")


if __name__ == "__main__":
    main()
