"""Build the Cython extensions of manyclass; all other packaging facts are in pyproject.toml.

CORE_BUILD picks the flavour: release (default), profile, debug, sanitize or coverage; or none,
which packs the Python files alone, for an editable install of modules that are compiled already.
CORE_ONLY=core/index compiles that module alone.
"""

import os
import re
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCES = Path("src")
PACKAGE = SOURCES / "manyclass"
NATIVE = ("core", "service")  # the folders with native code

RULES = {  # the same in every flavour
    "language_level": 3,
    "wraparound": False,  # no negative indices in kernels
    "cdivision": True,
    "auto_pickle": False,  # state travels through snapshots, never through pickle
    "autotestdict": False,
}
FAST = {"boundscheck": False, "initializedcheck": False}
CHECKED = {"boundscheck": True, "initializedcheck": True}
# No contraction: a multiply-add rounds differently from a multiply and an add, and every machine
# has to reach the same state from the same events. No errno: no code reads it, and setting it
# prevents vectorized square roots.
QUIET = ["-Wno-unknown-warning-option", "-Wno-maybe-uninitialized"]  # of code that Cython makes
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

ONLY = os.environ.get("CORE_ONLY", "")


def compiled_as(flavour: str) -> list[Extension]:
    """Return the extensions of this flavour, translated to C++."""
    compiler, linker, macros, directives = FLAVOURS[flavour]
    headers = [str(header) for room in NATIVE for header in (PACKAGE / room).rglob("*.hpp")]
    extensions = [
        Extension(
            ".".join(pyx.relative_to(SOURCES).with_suffix("").parts),
            [str(pyx)],
            depends=headers,
            language="c++",
            include_dirs=[str(PACKAGE), str(PACKAGE / "core/native")],
            extra_compile_args=["-std=c++17", "-Wall", "-Wextra", *QUIET, *EXACT, *compiler],
            extra_link_args=linker,
            define_macros=macros,
        )
        for room in NATIVE
        for pyx in sorted((PACKAGE / room).rglob("*.pyx"))
        if str(pyx).endswith(f"{ONLY}.pyx")
    ]
    return cythonize(
        extensions,
        compiler_directives={**RULES, **directives},
        nthreads=os.cpu_count(),
        force=True,  # it compares file times only, so it would reuse C++ of another flavour
    )


def long_description() -> str:
    """Return the README for an index of packages, which has no other file of the repository.

    Pictures are left out, and of links to files only their text stays.
    """
    without_pictures = re.sub(r"^!\[.*\n\n", "", Path("README.md").read_text(), flags=re.MULTILINE)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", without_pictures)


flavour = os.environ.get("CORE_BUILD", "release")
setup(
    long_description=long_description(),
    long_description_content_type="text/markdown",
    ext_modules=[] if flavour == "none" else compiled_as(flavour),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
