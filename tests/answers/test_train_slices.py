"""A pod with slices is bought and powered by the slice; its own network is a priced part of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.train.answer import train
from dcplan.result import Result

POD_USD, POD_KW = 4096 * 10_000.0, 1024.0
"""Round figures: 10,000 USD and 0.25 kW a chip."""
ROW = f"{{id: tpu-v4-pod, price_usd: {POD_USD}, rated_kw: {POD_KW}"
NETWORK = "own_network: {name: optical circuit switches, usd: 4.096e6, kw: 409.6}"


def _run(folder: Path, more: str, **given: Any) -> Result:
    # null takes the packaged row's own value away
    fields = {"slice_accelerators": "null", "own_network": "null"}
    fields |= dict(part.split(": ", 1) for part in more.split("; ") if part)
    text = ", ".join(f"{key}: {value}" for key, value in fields.items())
    # a folder of its own, as a process reads each overlay once
    folder = folder / str(len(list(folder.iterdir())))
    folder.mkdir()
    (folder / "pod.yaml").write_text(f"systems:\n  - {ROW}, {text}}}\n", encoding="utf-8")
    usual: dict[str, Any] = {"system": "tpu-v4-pod", "accelerators": 4096, "tokens": 1e12}
    return train("llama-3.1-70b", catalogs=(str(folder),), **(usual | given))


def _bought(result: Result) -> dict[str, Any]:
    return next(r for r in result.tables["run_cost"].records() if r["basis"] == "bought")


def test_spares_are_slices_inside_a_pod(tmp_path: Path) -> None:
    """4,096 chips and five spare cubes of 64 are 69 cubes; without slices, two pods."""
    cubes = _run(tmp_path, "slice_accelerators: 64")
    spares = cubes.value("train.spares")
    assert spares is not None
    assert 0 < spares < 4096
    assert spares % 64 == 0
    assert _bought(cubes)["hardware_usd"] == pytest.approx((4096 + spares) * 10_000)
    pods = _run(tmp_path, "")
    assert _bought(pods)["hardware_usd"] == pytest.approx(2 * POD_USD)
    assert not [w for w in cubes.warnings if "complete systems (" in str(w["message"])]


def test_a_slice_is_filled(tmp_path: Path) -> None:
    """1,000 chips and the spare cubes end in a whole slice of 64."""
    run = _run(tmp_path, "slice_accelerators: 64", accelerators=1000)
    chips = _bought(run)["hardware_usd"] / 10_000
    assert chips % 64 == 0
    assert 0 <= chips - 1000 - float(run.value("train.spares") or 0) < 64


def test_the_own_network_is_priced_and_powered_by_the_slice(tmp_path: Path) -> None:
    """4.096 M USD and 409.6 kW a pod are 1,000 USD and 0.1 kW a chip."""
    run = _run(tmp_path, f"slice_accelerators: 64; {NETWORK}")
    spares = float(run.value("train.spares") or 0)
    assert _bought(run)["network_usd"] == pytest.approx((4096 + spares) * 1000)
    assert "optical circuit switches as sold with the system" in str(
        run.metrics["train.capex_usd"].label
    )
    assert not [w for w in run.warnings if "do not include the network" in str(w["message"])]
    plain = _run(tmp_path, "slice_accelerators: 64")
    hours = run.value("train.accelerator_hours")
    assert hours is not None
    more_mwh = float(run.value("train.energy_mwh") or 0) - float(
        plain.value("train.energy_mwh") or 0
    )
    assert more_mwh == pytest.approx(hours * 0.1 / 1000)


def test_power_limits_slices(tmp_path: Path) -> None:
    """100 kW hold 6 slices of 64 x 0.25 kW = 16 kW, and no pod of 1,024 kW."""
    given: dict[str, Any] = {"accelerators": None, "max_it_mw": 0.1}
    run = _run(tmp_path, "slice_accelerators: 64", **given)
    largest = max(run.tables["cluster_sizes"].records(), key=lambda r: float(r["accelerators"]))  # type: ignore[arg-type]
    assert largest["accelerators"] == 6 * 64
    assert largest["it_mw"] == pytest.approx(0.096)
    with pytest.raises(Exception, match=r"0\.1 MW is less than the power of one tpu-v4-pod"):
        _run(tmp_path, "", **given)
