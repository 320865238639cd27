"""Write requirements/: the version of each package and the hashes of its files, in layers.

`make lock` runs it, with uv on the path. A layer includes those below it and has only what they
lack. Without --upgrade a locked version stays where pyproject.toml allows it.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
LAYERS: dict[str, tuple[list[str], list[str]]] = {  # the arguments of uv, the layers below
    "build": (["--group", "build"], []),
    "serve": (["pyproject.toml"], []),
    "s3": (["pyproject.toml", "--extra", "s3"], ["serve"]),
    "dev": (["pyproject.toml", "--group", "dev"], ["build", "s3"]),
}
OLDEST = 11  # of the versions of Python 3
COMPILE = ("uv", "pip", "compile", "-q", "--universal", "--python-version", f"3.{OLDEST}")
# Wheels of CPython 3.11 and newer for Linux on x86-64 and ARM, and those for any platform. The
# source archive is locked beside the former: elsewhere pip builds from it.
WHEEL = re.compile(r"-(?P<abi>none|abi3|cp3\d+)-(?P<platform>[\w.]+)\.whl$")
LINUX = re.compile(r"linux\w*_(x86_64|aarch64)$")
HEAD = "# Made by `make lock`, of pyproject.toml.\n"

Package = dict[str, Any]  # of a pylock.toml


def resolved(work: Path, upgrade: bool) -> Iterator[tuple[str, list[Package]]]:
    """Yield each layer with all its packages, of the same versions in all layers."""
    pins, found = work / "pins.txt", work / "pylock.toml"
    lines = "".join((FOLDER / f"{name}.txt").read_text() for name in LAYERS)
    pins.write_text("\n".join(re.findall(r"^\S+==[^\\\n]*", lines, re.MULTILINE)))
    newest = ["--upgrade"] if upgrade else []
    whole = (*COMPILE, *newest, *LAYERS["dev"][0], "-o", str(pins))
    subprocess.run(whole, cwd=ROOT, check=True)
    for name, (wanted, _) in LAYERS.items():
        options = ("-c", str(pins), "--format", "pylock.toml", "-o", str(found))
        subprocess.run((*COMPILE, *wanted, *options), cwd=ROOT, check=True)
        yield name, tomllib.loads(found.read_text())["packages"]
        found.unlink()


def files_of(package: Package) -> list[Package]:
    """Return the files of a package that an installation may take; none of Windows."""
    if "win32" in package.get("marker", ""):
        return []
    wheels = [each for each in package.get("wheels", []) if is_wanted(file_name(each))]
    if any(file_name(each).endswith("-any.whl") for each in wheels):
        return wheels
    return [*wheels, *([package["sdist"]] if "sdist" in package else [])]


def is_wanted(name: str) -> bool:
    """Return whether a wheel is for a supported Python and platform."""
    match = WHEEL.search(name)
    if match is None or (match["abi"].startswith("cp") and int(match["abi"][3:]) < OLDEST):
        return False
    return match["platform"] == "any" or LINUX.search(match["platform"]) is not None


def file_name(file: Package) -> str:
    """Return the last part of the address of a file, which is not locked itself."""
    return str(file["url"]).rpartition("/")[2]


def entry(package: Package) -> str:
    """Return the lines of a package."""
    marker = f" ; {package['marker']}" if "marker" in package else ""
    hashes = sorted(f"--hash=sha256:{each['hashes']['sha256']}" for each in files_of(package))
    return " \\\n    ".join([f"{package['name']}=={package['version']}{marker}", *hashes]) + "\n"


def main() -> None:
    """Write the files."""
    with TemporaryDirectory() as work:
        layers = dict(resolved(Path(work), "--upgrade" in sys.argv[1:]))
    entries = {name: [entry(each) for each in layers[name] if files_of(each)] for name in LAYERS}
    for name, (_, below) in LAYERS.items():
        known = {each for other in below_all(below) for each in entries[other]}
        includes = "".join(f"-r {other}.txt\n" for other in below)
        own = "".join(each for each in entries[name] if each not in known)
        (FOLDER / f"{name}.txt").write_text(HEAD + includes + own)


def below_all(names: list[str]) -> list[str]:
    """Return these layers and all below them."""
    return [each for name in names for each in (name, *below_all(LAYERS[name][1]))]


if __name__ == "__main__":
    main()
