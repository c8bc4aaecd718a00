"""`dcplan calibrate`: the script as it is written, and the overlay that its JSON becomes. No
accelerator is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from dcplan.answers.calibrate.answer import calibrate, script
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Accelerator
from dcplan.cli.calibrate import calibrate as verb
from dcplan.errors import InputError
from tests.answers.calibration_sample import SAMPLE, TRUE, changed, save, terms_of


def test_parameters_come_back_with_bounds_and_source(tmp_path: Path) -> None:
    found = calibrate(save(tmp_path, SAMPLE), accelerator="h100-sxm")
    terms = terms_of(found.overlay)
    assert set(terms) == {*TRUE, "multiprocessors"}
    for name, value in TRUE.items():
        assert terms[name]["value"] == pytest.approx(
            value, rel=0.06 if name in {"prologue_depth", "grouped_rows"} else 0.02
        )
    for term in terms.values():
        assert set(term) == {"value", "low", "high", "source", "as_of"}
        assert term["low"] <= term["value"] <= term["high"]
        assert term["as_of"] == "2026-11-21"
        wanted = "dcplan calibrate, measured on NVIDIA H100 80GB HBM3, torch 2.9.0+cu128, CUDA 12.8"
        assert term["source"] == wanted
    assert terms["multiprocessors"]["value"] == 132
    assert "id: h100-sxm" in found.overlay


def test_the_answer_says_what_was_measured_beside_the_catalog(tmp_path: Path) -> None:
    result = calibrate(save(tmp_path, SAMPLE), accelerator="h100-sxm").result
    assert result.headline.startswith(
        "h100-sxm, measured on NVIDIA H100 80GB HBM3: large matrix products approach 8"
    )
    table = result.frame("values").set_index("quantity")
    assert list(table.columns) == ["measured", "low", "high", "points", "error_frac", "catalog"]
    assert set(table.index) == {*TRUE, "multiprocessors"}
    assert table.loc["attention_frac", "points"] == 8
    assert table.loc["grouped_rows", "points"] <= 7  # the loops are slower and do not count
    assert table.loc["half_gemm_frac", "error_frac"] == pytest.approx(
        0.01 * (2 / np.pi) ** 0.5, rel=0.5
    )
    assert 0 < table.loc["half_gemm_frac", "catalog"] <= 1
    assert not result.warnings
    assert not result.tables["excluded"].rows


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    path = save(tmp_path, SAMPLE)
    assert (
        calibrate(path, accelerator="h100-sxm").overlay
        == calibrate(path, accelerator="h100-sxm").overlay
    )


def test_what_was_not_measured_is_left_to_the_catalog(tmp_path: Path) -> None:
    small = {
        **SAMPLE,
        "gemm": SAMPLE["gemm"][: len(SAMPLE["gemm"]) // 2],
        "grouped": [],
        "collectives": [],
    }
    found = calibrate(save(tmp_path, small), accelerator="h100-sxm")
    left = dict(found.result.tables["excluded"].rows)
    assert set(left) == {"fp8_gemm_frac", "grouped_rows", "scaleup_frac"}
    assert not set(terms_of(found.overlay)) & set(left)


def test_collectives_beyond_one_scaleup_domain_do_not_measure_it(tmp_path: Path) -> None:
    # two hosts of four: eight ranks would fit the domain of eight, but the network lies between
    # them
    links = [{**row, "nodes": 2} for row in SAMPLE["collectives"]]
    found = calibrate(save(tmp_path, {**SAMPLE, "collectives": links}), accelerator="h100-sxm")
    assert dict(found.result.tables["excluded"].rows) == {
        "scaleup_frac": "every all-gather left the scale-up domain"
    }


def test_doubts_are_warnings(tmp_path: Path) -> None:
    odd = {
        **SAMPLE,
        "device": "NVIDIA A100-SXM4-80GB",
        "skipped": [{"part": "gemm", "reason": "out of time"}],
    }
    odd["gemm"] = [{**r, "p90_s": 3 * r["median_s"]} for r in SAMPLE["gemm"]]
    warnings = [
        w["message"] for w in calibrate(save(tmp_path, odd), accelerator="h100-sxm").result.warnings
    ]
    assert [
        any(word in w for w in warnings)
        for word in ("idle", "it is h100-sxm", "time limit in gemm")
    ] == [True] * 3


def test_a_device_that_the_laws_do_not_describe_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    wild = [
        {**r, **{n: r[n] * f for n in ("p10_s", "median_s", "p90_s")}}
        for r, f in zip(SAMPLE["attention"], np.exp(rng.uniform(0, 3, 8)), strict=True)
    ]
    result = calibrate(save(tmp_path, {**SAMPLE, "attention": wild}), accelerator="h100-sxm").result
    assert [
        w["message"]
        for w in result.warnings
        if "attention_frac" in w["message"] and "badly" in w["message"]
    ]


@pytest.mark.parametrize(
    ("document", "code", "words"),
    [
        (changed("schema", to="dcplan.calibration/2"), "DC004", "not a dcplan.calibration/1 file"),
        ([1, 2], "DC004", "not a dcplan.calibration/1 file"),
        ("", "DC001", "empty"),
        ("{", "DC001", ""),
        (changed("gemm", to=[]), "DC003", "too few bf16 products in gemm: 0"),
        (changed("memory", to=[]), "DC003", "too few measurements in memory"),
        (changed("attention", to="none"), "DC004", "attention must be a list"),
        (
            changed("gemm", 3, "median_s", to=float("nan")),
            "DC004",
            "gemm[3].median_s must be between",
        ),
        (
            changed("gemm", 3, "median_s", to=float("inf")),
            "DC004",
            "gemm[3].median_s must be between",
        ),
        (changed("memory", 1, "p10_s", to=-1.0), "DC004", "memory[1].p10_s must be between"),
        (
            changed("gemm", 0, "p90_s", to=1e-7),
            "DC004",
            "gemm[0].median_s must be between p10_s and p90_s",
        ),
        (changed("gemm", 5, "k", to=0), "DC004", "gemm[5].k must be a whole number above 0"),
        (changed("gemm", 5, "m", to=True), "DC004", "gemm[5].m must be a whole number above 0"),
        (changed("gemm", 5, "dtype", to=None), "DC003", "gemm[5].dtype must be text"),
        (
            changed("attention", 0, "direction", to="sideways"),
            "DC004",
            "must be forward or backward, got 'sideways'",
        ),
        (
            changed("attention", 0, "causal", to="no"),
            "DC004",
            "attention[0].causal must be true or false",
        ),
        (changed("gemm", 2, to=7), "DC004", "gemm[2] must be a mapping"),
        (changed("device", to="H100\n- id: x"), "DC004", "device must be one line of text"),
        (
            changed("multiprocessors", to=-132),
            "DC004",
            "multiprocessors must be a whole number above 0",
        ),
        (changed("date", to="yesterday"), "DC004", "date must be a day"),
        (changed("gemm", 0, "m", to=10**9), "DC015", "gemm[0] ran at"),
    ],
)
def test_wrong_files_are_refused_with_code_and_place(
    tmp_path: Path, document: Any, code: str, words: str
) -> None:
    path = save(tmp_path, document)
    with pytest.raises(InputError) as refused:
        calibrate(path, accelerator="h100-sxm")
    problem = refused.value.problems[0]
    assert problem.code == code
    assert words in problem.cause
    assert problem.place is not None
    assert problem.place.path == str(path)
    if isinstance(document, dict) and words.startswith("gemm[3]"):
        key = path.read_text(encoding="utf-8").splitlines()[problem.place.line - 1]
        assert '"median_s"' in key


def test_every_wrong_value_is_told_at_once(tmp_path: Path) -> None:
    document = changed("gemm", 3, "median_s", to=-1.0)
    document["gemm"][4]["n"] = 0
    document["date"] = "2026"
    with pytest.raises(InputError) as refused:
        calibrate(save(tmp_path, document), accelerator="h100-sxm")
    assert len(refused.value.problems) == 3


def test_an_unknown_accelerator_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='did you mean "h100-sxm"'):
        calibrate(save(tmp_path, SAMPLE), accelerator="h100-sxn")
    with pytest.raises(InputError, match="bf16_tflops"):
        calibrate(save(tmp_path, SAMPLE), accelerator="v100-sxm2")


def test_the_script_compiles_and_needs_only_torch_and_the_standard_library() -> None:
    text = script()
    compile(text, "measure.py", "exec")
    modules = {
        line.split()[1].split(".")[0]
        for line in text.splitlines()
        if line.strip().startswith(("import ", "from "))
    }
    assert modules - {"torch"} <= set(sys.stdlib_module_names)
    assert '"dcplan.calibration/1"' in text


def test_the_script_without_torch_exits_2_and_writes_nothing(tmp_path: Path) -> None:
    # -I: this environment has no torch, and no other folder may lend one
    (tmp_path / "measure.py").write_text(script(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "measure.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "needs PyTorch" in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["measure.py"]


def _run(*arguments: str) -> Any:
    app = typer.Typer()
    app.command()(verb)
    return CliRunner().invoke(app, list(arguments))


def test_the_verb_writes_the_script_and_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "measure.py"
    assert _run("--out", str(path)).exit_code == 0
    assert path.read_text(encoding="utf-8") == script()
    path.write_text("mine", encoding="utf-8")
    refused = _run("--out", str(path))
    assert isinstance(refused.exception, InputError)
    assert path.read_text(encoding="utf-8") == "mine"
    assert _run("--out", str(path), "--force").exit_code == 0
    assert path.read_text(encoding="utf-8") == script()


def test_the_verb_writes_the_overlay_and_prints_the_answer_first(tmp_path: Path) -> None:
    saved = save(tmp_path, SAMPLE)
    ran = _run(str(saved), "--accelerator", "h100-sxm", "-o", str(tmp_path / "overlay"))
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.startswith("h100-sxm, measured on NVIDIA H100 80GB HBM3: ")
    assert "prologue_depth" in ran.stdout
    assert terms_of((tmp_path / "overlay" / "calibrated.yaml").read_text(encoding="utf-8"))
    again = _run(str(saved), "--accelerator", "h100-sxm", "-o", str(tmp_path / "overlay"))
    assert isinstance(again.exception, InputError)


@pytest.mark.parametrize(
    "arguments", [(), ("--accelerator", "h100-sxm"), ("x.json", "-o", "y"), ("x.json",)]
)
def test_half_a_request_is_refused(arguments: tuple[str, ...]) -> None:
    ran = _run(*arguments)
    assert isinstance(ran.exception, InputError)
    assert ran.exception.problems[0].code == "DC050"


def test_the_overlay_loads_as_a_catalog(tmp_path: Path) -> None:
    found = calibrate(save(tmp_path, SAMPLE), accelerator="h100-sxm")
    folder = tmp_path / "overlay"
    folder.mkdir()
    (folder / "calibrated.yaml").write_text(found.overlay, encoding="utf-8")
    row = load((folder,)).get("accelerators", "h100-sxm", Accelerator)
    for name in (*TRUE, "multiprocessors"):
        quantity = getattr(row.training, name)
        assert quantity.value == terms_of(found.overlay)[name]["value"]
        assert quantity.source.startswith("dcplan calibrate, measured on")
    assert row.bf16_tflops == load().get("accelerators", "h100-sxm", Accelerator).bf16_tflops
