"""Digest of the code, so that every worker runs the same version."""

from __future__ import annotations

import functools
import hashlib
from importlib import metadata
from pathlib import Path

import dcplan
from dcplan.catalog.locate import data_dir

PACKAGES = ("highspy", "numpy", "scipy", "pyomo")
"""Packages whose version changes an answer."""


@functools.cache
def code_digest() -> str:
    """Return the digest of the code and tables of dcplan and of the versions of the solvers."""
    root = Path(dcplan.__file__).parent
    found = hashlib.sha256(dcplan.__version__.encode())
    for path in sorted(root.rglob("*.py")):
        found.update(str(path.relative_to(root)).encode())
        found.update(path.read_bytes())
    tables = data_dir("catalogs")
    for path in sorted(
        p for p in tables.rglob("*") if p.is_file()
    ):  # the digest of the catalog does not cover tables
        found.update(str(path.relative_to(tables)).encode())
        found.update(path.read_bytes())
    for package in PACKAGES:
        found.update(f"{package} {metadata.version(package)}".encode())
    return found.hexdigest()
