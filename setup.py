"""Build the native code of manyclass; all other packaging facts are in pyproject.toml.

    a .pyx ---- Cython ----> .cpp ----+
                                      +--> an object ----> a module, linked with native.a
    native/**/*.cpp --> objects --> native.a

CORE_BUILD picks the flavour: release (default), profile, debug, sanitize or coverage; or none,
which packs the Python files alone, for an editable install of modules that are compiled already.
Each flavour has a folder in build/, where a file is compiled again only if it or one that it
includes changed. CORE_ONLY=core/learner compiles that module alone.
"""

import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path("src")
PACKAGE = SOURCES / "manyclass"
NATIVE = ("core", "service")  # the folders with native code
INCLUDED = [str(PACKAGE), str(PACKAGE / "core/native")]
# The code that Cython needs for typed memoryviews, once instead of in each module.
SHARED = "manyclass.core.cython_shared"

RULES = {  # the same in every flavour
    "language_level": 3,
    "wraparound": False,  # no negative indices in kernels
    "cdivision": True,
    "auto_pickle": False,  # state travels through snapshots, never through pickle
    "autotestdict": False,
}
FAST = {"boundscheck": False, "initializedcheck": False}
CHECKED = {"boundscheck": True, "initializedcheck": True}
# The code that Cython makes has false warnings.
WARNINGS = ["-Wall", "-Wextra", "-Wno-unknown-warning-option", "-Wno-maybe-uninitialized"]
# No contraction: a multiply-add rounds differently from a multiply and an add, and every machine
# has to reach the same state from the same events. No errno: no code reads it, and setting it
# prevents vectorized square roots.
EXACT = ["-ffp-contract=off", "-fno-math-errno"]
SANITIZERS = "-fsanitize=address,undefined"
ASSERTS = ["-UNDEBUG", "-D_GLIBCXX_ASSERTIONS"]  # the sanitizers alone miss vector[size()]

FLAVOURS = {  # name: (compiler flags, linker flags, macros, directives)
    "release": (["-O3", "-g0"], [], [], FAST),
    "profile": (["-O3", "-g", "-fno-omit-frame-pointer"], [], [], FAST),  # lines and callers
    "debug": (["-O0", "-g", *ASSERTS], [], [], CHECKED),
    "sanitize": (["-O1", "-g", *ASSERTS, SANITIZERS], [SANITIZERS], [], CHECKED),
    "coverage": (["-O0", "-g"], [], [("CYTHON_TRACE_NOGIL", "1")], {**CHECKED, "linetrace": True}),
}
FLAVOUR = os.environ.get("CORE_BUILD", "release")
COMPILED = Path("build") / FLAVOUR

ONLY = os.environ.get("CORE_ONLY", "")


def forget_other_builds() -> None:
    """Remove what was compiled as another text of this file says, or for another Python."""
    made_by = sys.version + "\n" + Path(__file__).read_text()
    stamp = COMPILED / "made-by"
    if stamp.exists() and stamp.read_text() == made_by:
        return
    shutil.rmtree(COMPILED, ignore_errors=True)
    COMPILED.mkdir(parents=True)
    stamp.write_text(made_by)


def translated() -> list[Extension]:
    """Return the extensions of this flavour, translated to C++."""
    directives = FLAVOURS[FLAVOUR][3]
    shared = PACKAGE / "core" / "cython_shared.c"
    extensions = [
        Extension(
            ".".join(pyx.relative_to(SOURCES).with_suffix("").parts), [str(pyx)], language="c++"
        )
        for room in NATIVE
        for pyx in sorted((PACKAGE / room).rglob("*.pyx"))
        if str(pyx).endswith(f"{ONLY}.pyx")
    ]
    made = cythonize(
        [*extensions, Extension(SHARED, [str(shared)])],
        compiler_directives={**RULES, **directives},
        shared_utility_qualified_name=SHARED,
        quiet=True,
        nthreads=os.cpu_count(),
        # Cython.Coverage looks for the C++ beside the .pyx.
        build_dir=None if FLAVOUR == "coverage" else str(COMPILED),
    )
    for extension in made:
        remove_listing(Path(extension.sources[0]))
    return made


def remove_listing(source: Path) -> None:
    """Remove the list of headers with which Cython begins its C++.

    The list depends on where the sources lie; the numbers of the lines behind it are compiled.
    """
    text = source.read_text()
    begin, _, rest = text.partition("/* BEGIN: Cython Metadata")
    if rest:
        source.write_text(begin + rest.partition("END: Cython Metadata */")[2])


def is_current(made: Path, listing: Path) -> bool:
    """Return whether no file that the compiler listed is newer than the object made of them."""
    if not (made.exists() and listing.exists()):
        return False
    _, _, needed = listing.read_text().replace("\\\n", " ").partition(": ")
    files = [Path(each) for each in needed.split()]
    since = made.stat().st_mtime_ns
    return all(each.exists() and each.stat().st_mtime_ns <= since for each in files)


class BuildNative(build_ext):
    """Compiles all files in parallel, the slowest first, then links the modules."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.build_temp = str(COMPILED)
        self.force = True  # link: the modules that are there may be of another flavour

    def build_extensions(self) -> None:
        native = sorted(
            str(path) for room in NATIVE for path in (PACKAGE / room).glob("**/native/**/*.cpp")
        )
        made = [source for extension in self.extensions for source in extension.sources]
        made.sort(key=os.path.getsize, reverse=True)
        sources = [*native, *made]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = dict(zip(sources, pool.map(self.compiled, sources), strict=True))
        archive = COMPILED / "libnative.a"
        archive.unlink(missing_ok=True)
        self.compiler.create_static_lib([objects[path] for path in native], "native", str(COMPILED))
        for extension in self.extensions:
            extension.extra_objects = [*(objects[path] for path in extension.sources), str(archive)]
            extension.sources = []
            extension.extra_link_args = FLAVOURS[FLAVOUR][1]
        super().build_extensions()

    def compiled(self, source: str) -> str:
        """Compile a file unless its object is current; return the object."""
        [made] = self.compiler.object_filenames([source], output_dir=self.build_temp)
        listing = Path(made).with_suffix(".d")
        if is_current(Path(made), listing):
            return made
        flags, _, macros, _ = FLAVOURS[FLAVOUR]
        dialect = ["-std=c++17"] if source.endswith(".cpp") else []
        began = time.time_ns()
        self.compiler.compile(
            [source],
            output_dir=self.build_temp,
            include_dirs=INCLUDED,
            macros=macros,
            extra_postargs=[*dialect, *WARNINGS, *EXACT, *flags, "-MD", "-MF", str(listing)],
        )
        os.utime(made, ns=(began, began))  # a file may have changed while it was compiled
        return made


def long_description() -> str:
    """Return the README for an index of packages, which has no other file of the repository.

    Pictures are left out, and of links to files only their text stays.
    """
    without_pictures = re.sub(r"^!\[.*\n\n", "", Path("README.md").read_text(), flags=re.MULTILINE)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", without_pictures)


if FLAVOUR != "none":
    forget_other_builds()
setup(
    long_description=long_description(),
    long_description_content_type="text/markdown",
    ext_modules=[] if FLAVOUR == "none" else translated(),
    cmdclass={"build_ext": BuildNative},
    options={"build_ext": {"parallel": os.cpu_count()}},
)
