"""Compare ``dcplan validate serving`` with NVIDIA AIConfigurator on the same measured rows.

    python -m venv /tmp/aic && /tmp/aic/bin/pip install aiconfigurator
    python -m tests.bench.aiconfigurator --python /tmp/aic/bin/python [--sample N]

AIConfigurator is no dependency of dcplan. It runs in the environment of ``--python``, an option that
may be repeated for several releases. ``PATH=adapter`` asks as AIConfigurator's own reader of
InferenceX records does: with nominal lengths, and with the formats of the row on the plain
checkpoint. Only its estimate of one configuration is used, with its measured tables of operations.
Rows are those of ``catalogs/runs/serving_runs.csv`` with fixed concurrency, a stated prompt length,
an NVIDIA accelerator, and vLLM, SGLang or TensorRT-LLM.

Constants of dcplan are fitted to these rows. The bench therefore prints two columns of dcplan: as
shipped, and held out (``tests/bench/fit_serving.py``), where the rows of an accelerator and model
take no part in the fit that predicts them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dcplan.answers.validation.measured_serving import figures_of, read_rows
from tests.bench.aiconfigurator_requests import QUANTITIES, Case, cases_of, request_of, sample
from tests.bench.aiconfigurator_tables import show
from tests.bench.fit_serving import held_out
from tests.bench.serving_data import ROWS, data_of, read

SCRIPT = Path(__file__).with_name("aiconfigurator_estimate.py")
Saved = dict[str, Any]
"""Predictions of dcplan by column, and answers by release."""


def start(spec: str, cases: Sequence[Case], folder: Path) -> subprocess.Popen[bytes]:
    """Start AIConfigurator on the requests; its answers go into ``folder``."""
    python, _, mapping = spec.partition("=")
    asked = folder / "requests.jsonl"
    requests = [request_of(c.row, c.run, mapping == "adapter") for c in cases]
    asked.write_text("".join(json.dumps(r) + "\n" for r in requests), encoding="utf-8")
    env = {**os.environ, "HF_HUB_OFFLINE": "1"}
    env.pop("PYTHONPATH", None)
    with (folder / "errors").open("wb") as errors:
        command = [python, "-P", str(SCRIPT), str(asked), str(folder / "answers.jsonl")]
        return subprocess.Popen(command, env=env, stdout=errors, stderr=errors)


def collect(
    process: subprocess.Popen[bytes], folder: Path, until: float
) -> tuple[str, dict[str, Any]]:
    """Return the package's version and its answers by row, after the end or the time limit."""
    try:
        process.wait(max(until - time.monotonic(), 1.0))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    file = folder / "answers.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    if not lines:
        raise SystemExit((folder / "errors").read_text(encoding="utf-8")[-2000:])
    whole = [json.loads(line) for line in lines if line.endswith("}")]
    return whole[0]["package"], {a["id"]: a for a in whole[1:]}


def predictions(cases: Sequence[Case], apart: bool) -> dict[str, dict[str, float]]:
    """Return dcplan's predictions by column, then by row and quantity. [ms]"""
    shipped = {
        f"{f.run.id} {f.quantity}": f.predicted
        for f in figures_of([c.run for c in cases])
        if f.quantity in QUANTITIES
    }
    found = {"dcplan": shipped}
    if apart:
        runs = read()
        values = held_out(data_of(runs))[1]
        found["dcplan held out"] = {
            f"{r.id} {q}": float(values[i, j])
            for i, r in enumerate(runs)
            for j, q in enumerate(QUANTITIES)
        }
    return found


def ask(specs: Sequence[str], cases: Sequence[Case], limit_s: float, apart: bool) -> Saved:
    """Return the predictions of dcplan and the answers of every release."""
    until = time.monotonic() + limit_s
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place, str(i)) for i in range(len(specs))]
        for folder in folders:
            folder.mkdir()
        started = [start(p, cases, f) for p, f in zip(specs, folders, strict=True)]
        own = predictions(cases, apart)
        asked = []
        for spec, process, folder in zip(specs, started, folders, strict=True):
            package, answers = collect(process, folder, until)
            asked.append({"spec": spec, "package": package, "answers": answers})
    return {"own": own, "asked": asked}


def main() -> None:
    """Compare on a sample and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--limit-s", type=float, default=900.0)
    parser.add_argument("--save", type=Path, help="file for all predictions, as JSON")
    parser.add_argument("--load", type=Path, help="such a file, in place of new predictions")
    parser.add_argument("--no-held-out", action="store_true")
    given = parser.parse_args()
    every = cases_of(read_rows(ROWS))
    cases = sample(every, given.sample)
    print(f"{len(every)} rows can be asked, {len(cases)} in the sample")
    if given.load:
        found = json.loads(given.load.read_text(encoding="utf-8"))
    else:
        found = ask(given.python, cases, given.limit_s, not given.no_held_out)
    if given.save:
        given.save.write_text(json.dumps(found), encoding="utf-8")
    for one in found["asked"]:
        show(one["spec"], one["package"], cases, one["answers"], found["own"])


if __name__ == "__main__":
    main()
