"""The wheel carries its catalogs and scenarios: installed in an empty environment, it plans from
any folder."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def call(*command: str | Path, cwd: Path) -> str:
    """Run a command outside this project's environment; its whole output is shown when it fails."""
    clean = {
        k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    }
    done = subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        env=clean,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built without network."""
    folder = tmp_path_factory.mktemp("wheel")
    call(
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        folder,
        repo,
        cwd=folder,
    )
    (built,) = folder.glob("dcplan-*.whl")
    return built


def test_the_wheel_holds_the_code_and_all_data(wheel: Path, repo: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        f"dcplan/_data/{p.relative_to(repo)}"
        for k in ("catalogs", "scenarios")
        for p in (repo / k).rglob("*.*")
    }
    expected |= {str(p.relative_to(repo)) for p in (repo / "dcplan").rglob("*.py")}
    assert len(expected) > 100
    assert sorted(n for n in expected - names if "__pycache__" not in n) == []
    assert [n for n in names if n.startswith(("tests/", "docs/")) or n.endswith(".pyc")] == []


def test_the_wheel_plans_from_an_empty_environment(wheel: Path, repo: Path, tmp_path: Path) -> None:
    lock = repo / "requirements.lock"
    if not lock.is_file():
        pytest.skip("requirements.lock is not there: run `make lock`")
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    call(python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock, cwd=tmp_path)
    call(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel, cwd=tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    where = call(python, "-c", "import dcplan; print(dcplan.__file__)", cwd=elsewhere)
    assert Path(where.strip()).is_relative_to(tmp_path / "env")  # not the checkout
    dcplan = tmp_path / "env" / "bin" / "dcplan"
    out = call(dcplan, "plan", "train-405b-in-90-days", "-q", cwd=elsewhere)
    assert out.startswith("train-405b-in-90-days: ")
    assert str(tmp_path / "env") in call(dcplan, "doctor", cwd=elsewhere)
    assert "no findings" in call(dcplan, "catalog", "check", cwd=elsewhere)
    assert list(elsewhere.iterdir()) == []  # a finished plan leaves nothing behind
