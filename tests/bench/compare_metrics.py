"""Compare every figure of the packaged scenarios and of sample questions between two revisions.

``python tests/bench/compare_metrics.py REVISION`` answers each question with the code of
``REVISION`` (in a temporary git worktree) and with the code here, and prints every figure that
differs by more than 1e-9 relative. Answers are kept in ``--keep FOLDER`` and read again there.
Figures of a solve that time ended are reported apart: another run may find another plan.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = {
    "train-8b": "train llama-3.1-8b --system dgx-h100 --accelerators 512",
    "train-405b": "train llama-3.1-405b --system gb200-nvl72 --accelerators 8064 --tokens 15e12",
    "train-moe": "train deepseek-v3 --system dgx-h200 --accelerators 2048 --tokens 14.8e12",
    "fabric-superpod": "fabric --system dgx-h100 --nodes 127 --fabric ib-ndr-400",
    "fabric-three-tier": "fabric --system gb300-nvl72 --nodes 512 --fabric eth-800",
    "facility-ashburn": "facility --site us-ashburn --cooling direct-liquid-tower "
    "--system gb300-nvl72 --it-mw 20",
    "facility-compare": "facility --site us-dallas --compare --it-mw 20",
    "tco": "tco own-or-rent-1024-h200",
    "validate-fabric": "validate fabric",
    "validate-goodput": "validate goodput",
}
TOLERANCE = 1e-9
RENAMED: dict[str, str] = {}
"""Metric key of the older revision -> key here, where it was renamed."""
SKIPPED = ("solver.", "train.search_s")
"""Beginnings of keys that say how a search fared, not what the answer is."""


def questions(root: Path) -> dict[str, list[str]]:
    """Return every question by name: a plan of each packaged scenario, then the samples."""
    files = sorted([*root.glob("scenarios/*.yaml"), *root.glob("scenarios/cases/*.yaml")])
    plans = {f"plan-{f.stem}": ["plan", str(f), "--gap", "0.02", "--no-progress"] for f in files}
    return plans | {name: text.split() for name, text in QUESTIONS.items()}


def answers(root: Path, keep: Path) -> dict[str, dict[str, object]]:
    """Answer every question with the code of a folder; answers that are there are read."""
    keep.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, words in questions(root).items():
        file = keep / f"{name}.json"
        if not file.is_file():
            call = [sys.executable, "-m", "dcplan", *words, "-f", "json", "-q"]
            env = {**os.environ, "PYTHONPATH": str(root)}
            with tempfile.TemporaryDirectory() as folder:
                ran = subprocess.run(
                    call, capture_output=True, text=True, env=env, cwd=folder, check=False
                )
            file.write_text(ran.stdout or json.dumps({"failed": ran.stderr}), encoding="utf-8")
        found[name] = json.loads(file.read_text(encoding="utf-8"))
    return found


def differences(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """Return one line a figure that differs."""
    if "failed" in before or "failed" in after:
        return (
            [] if before == after else [f"failed: {before.get('failed')} | {after.get('failed')}"]
        )
    old = {RENAMED.get(k, k): v["value"] for k, v in before["metrics"].items()}  # type: ignore[attr-defined]
    new = {k: v["value"] for k, v in after["metrics"].items()}  # type: ignore[attr-defined]
    lines = []
    for key in sorted(old.keys() | new.keys()):
        if key.startswith(SKIPPED):
            continue
        a, b = old.get(key), new.get(key)
        same = a == b
        if isinstance(a, int | float) and isinstance(b, int | float):
            same = abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))
        if not same:
            lines.append(f"  {key}: {a} -> {b}")
    return lines


def main() -> int:
    """Compare, and return 1 where a figure of a reproducible answer differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision")
    parser.add_argument("--keep", type=Path, default=None)
    chosen = parser.parse_args()
    keep = chosen.keep or Path(tempfile.mkdtemp())
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(base), chosen.revision], check=True)
        try:
            before = answers(base, keep / "before")
        finally:
            subprocess.run([*git, "remove", "--force", str(base)], check=True)
    after = answers(ROOT, keep / "after")
    count, worse = 0, 0
    for name in before:
        one, two = before[name], after.get(name, {"failed": "not asked"})
        lines = differences(one, two)
        count += len(one.get("metrics", {}))  # type: ignore[arg-type]
        timed = any(d.get("solver", {}).get("reproducible") is False for d in (one, two))  # type: ignore[attr-defined]
        worse += bool(lines) and not timed
        print(
            f"{name}: {'equal' if not lines else f'{len(lines)} differ'}{' (ended by time)' * timed}"
        )
        print("\n".join(lines), end="\n" if lines else "")
    print(f"{len(before)} answers, {count} figures compared, {worse} reproducible answers differ")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
