"""`manyclass --version`, and the other places that give a version."""

import tomllib
from pathlib import Path

import yaml

import manyclass as package

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_command_line_prints_the_version(manyclass):
    assert manyclass("--version").stdout == f"manyclass {VERSION}\n"


def test_the_package_has_the_version_of_its_distribution():
    assert package.__version__ == VERSION


def test_kubernetes_runs_the_image_of_this_version():
    file = ROOT / "deploy/kubernetes/kustomization.yaml"
    [image] = yaml.safe_load(file.read_text())["images"]
    assert image["newTag"] == VERSION
