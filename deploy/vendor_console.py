"""Bring the packages of the console, as files: the module of each, its version and its licence.

python -m deploy.vendor_console    (needs npm, whose configured registry brings them)

A browser resolves no names of packages without an import map in the page, which its policy forbids:
so the imports of one package by another become addresses.
"""

import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).resolve().parents[1] / "service/http/console/static/vendor"
PACKAGES = {  # each with its version, its licence, and its modules by the file they become
    "preact": (
        "11.2.0",
        "MIT",
        {"preact.mjs": "dist/preact.mjs", "hooks.mjs": "hooks/dist/hooks.mjs"},
    ),
    "htm": ("3.1.1", "Apache-2.0", {"htm.mjs": "dist/htm.module.js"}),
}
IMPORTS = {'from"preact"': 'from"./preact.mjs"'}
WITH_TEXT = ("MIT",)  # licences whose text is not that of manyclass


def bring(name: str, version: str, modules: dict[str, str], work: Path) -> str:
    """Write the modules of a package, and return the text of its licence."""
    command = ["npm", "pack", "--silent", "--pack-destination", str(work), f"{name}@{version}"]
    packed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    with tarfile.open(work / packed) as package:
        package.extractall(work / name, filter="data")
    root = work / name / "package"
    for file, source in modules.items():
        text = (root / source).read_text()
        for imported, address in IMPORTS.items():
            text = text.replace(imported, address)
        lines = [line for line in text.splitlines() if not line.startswith("//# sourceMappingURL")]
        (FOLDER / file).write_text("\n".join(lines) + "\n")
    return (root / "LICENSE").read_text().strip()


def main() -> None:
    """Write the modules and NOTICE.txt."""
    notice = ["Files of other packages, written by `python -m deploy.vendor_console`."]
    with TemporaryDirectory() as work:
        for name, (version, licence, modules) in PACKAGES.items():
            text = bring(name, version, modules, Path(work))
            notice.append(f"{name} {version}, {licence}: {', '.join(modules)}")
            if licence in WITH_TEXT:
                notice.append(text)
    notice.append("The text of Apache-2.0 is in the file LICENSE of manyclass.")
    (FOLDER / "NOTICE.txt").write_text("\n\n".join(notice) + "\n")


if __name__ == "__main__":
    main()
