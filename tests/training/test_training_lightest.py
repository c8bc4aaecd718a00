"""Where a run leaves the recompute mode out: the first that fits, in the order a practitioner
would try."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcplan.llm.device_terms import DeviceTerms, StackTerms
from dcplan.llm.operations import Setup
from dcplan.llm.tables import RECOMPUTE
from dcplan.training.infer_recompute import SEARCH_ORDER, Chosen, lightest
from dcplan.training.memory import memory
from dcplan.units import BYTES_PER_GIB
from tests.training.tiny import BF16, COEFFICIENTS, DENSE, DEVICE, STACK, setup

LEAN = replace(BF16, optimizer_bytes=10.0)
SEQ = 2048.0
"""Tokens at which dropping norm outputs saves 201 MB and lean states 411 MB: each fall-back needs
less than before."""
NO_OFFLOAD = replace(STACK, offloads=False)


def _with(hbm_gb: float, stack: StackTerms = STACK, **device: float) -> tuple[Setup, StackTerms]:
    return setup(DENSE, replace(DEVICE, hbm_gb=hbm_gb, **device), stack, seq_len=SEQ), stack


def _need(index: int, stack: StackTerms = STACK) -> float:
    """Memory of the index-th fall-back, in the gigabytes of an accelerator that just fits it."""
    name, offload, narrow = SEARCH_ORDER[index]
    thin = replace(stack, grad_bytes=stack.lean_grad_bytes) if narrow else stack
    recipe = LEAN if narrow else BF16
    asked = setup(
        DENSE, DEVICE, thin, recipe, seq_len=SEQ, recompute=RECOMPUTE.index(name), offload=offload
    )
    return (
        float(memory(asked).total[0])
        / BYTES_PER_GIB
        / COEFFICIENTS.measured_memory_factor
        * (1 + 1e-9)
    )


def _choose(
    hbm_gb: float, stack: StackTerms = STACK, given: float = -1.0, **device: float
) -> Chosen:
    asked, used = _with(hbm_gb, stack, **device)
    return lightest(asked, [used], np.array([given]))


def _read(chosen: Chosen) -> tuple[str, float, bool]:
    x, r = chosen.setup.layout, chosen.setup.recipe
    lean = (float(r.grad_bytes[0]), float(r.optimizer_bytes[0])) == (2.0, 10.0)
    assert lean or (float(r.grad_bytes[0]), float(r.optimizer_bytes[0])) == (4.0, 12.0)
    return RECOMPUTE[int(x.recompute[0])], float(x.offload[0]), lean


@pytest.mark.parametrize("index", range(len(SEARCH_ORDER)))
def test_each_fall_back_is_taken_where_it_is_the_first_to_fit(index: int) -> None:
    """None, selective, the same with lean states, then half and all activations in host memory,
    then full."""
    # full recompute keeps less than offloaded activations only where these may not leave
    stack = NO_OFFLOAD if SEARCH_ORDER[index][0] == "full" else STACK
    chosen = _choose(_need(index, stack), stack)
    assert _read(chosen) == SEARCH_ORDER[index]
    assert chosen.fits.all()


def test_the_order_is_the_documented_one() -> None:
    assert [(name, offload) for name, offload, _ in SEARCH_ORDER] == [
        ("none", 0.0),
        ("selective", 0.0),
        ("none", 0.0),
        ("selective", 0.0),
        ("selective", 0.5),
        ("selective", 1.0),
        ("full", 0.0),
    ]
    assert [narrow for _, _, narrow in SEARCH_ORDER] == [False, False, True, True, True, True, True]


@pytest.mark.parametrize("index", range(1, 6))
def test_a_byte_less_takes_the_next(index: int) -> None:
    chosen = _choose(_need(index - 1) * (1 - 1e-6))
    assert _read(chosen) == SEARCH_ORDER[index]


def test_modes_that_the_stack_lacks_are_skipped() -> None:
    only_full = replace(STACK, recompute=("none", "full"))
    assert _read(_choose(_need(1), only_full)) == ("none", 0.0, True)
    assert _read(_choose(_need(3), only_full)) == ("full", 0.0, True)
    no_none = replace(STACK, recompute=("selective", "full"))
    assert _read(_choose(80.0, no_none)) == ("selective", 0.0, False)


def test_activations_stay_where_the_host_link_is_slow_or_the_stack_cannot() -> None:
    short = _need(4)
    assert _read(_choose(short))[1] == 0.5
    assert _read(_choose(short, host_gb_per_s=64.0)) == ("full", 0.0, True)  # PCIe
    assert _read(_choose(short, NO_OFFLOAD)) == ("full", 0.0, True)


def test_a_stack_without_lean_states_keeps_its_own() -> None:
    own = replace(STACK, lean_grad_bytes=4.0, lean_optimizer_bytes=float("inf"), offloads=False)
    assert _read(_choose(_need(3), own)) == ("full", 0.0, False)


def test_stated_mode_is_kept_whether_it_fits_or_not() -> None:
    for mode in (0.0, 1.0, 2.0):
        for hbm_gb in (0.1, 80.0):
            chosen = _choose(hbm_gb, given=mode)
            assert _read(chosen) == (RECOMPUTE[int(mode)], 0.0, False)


def test_where_nothing_fits_it_is_full_and_said() -> None:
    chosen = _choose(0.1)
    assert not chosen.fits.any()
    assert _read(chosen)[0] == "full"


def test_many_runs_are_filled_in_as_each_alone() -> None:
    sizes = [_need(i) for i in range(6)] + [0.1, 80.0]
    stacks = [STACK, NO_OFFLOAD] * 4
    devices: list[DeviceTerms] = [replace(DEVICE, hbm_gb=x) for x in sizes]
    given = np.array([-1.0, -1, -1, -1, -1, -1, -1, 2])
    together = lightest(setup(DENSE, devices, stacks, seq_len=[SEQ] * 8), stacks, given)
    for i, (size, stack) in enumerate(zip(sizes, stacks, strict=True)):
        alone = _choose(size, stack, given=float(given[i]))
        assert together.fits[i] == alone.fits[0]
        assert together.setup.layout.recompute[i] == alone.setup.layout.recompute[0]
        assert together.setup.layout.offload[i] == alone.setup.layout.offload[0]
        assert together.setup.recipe.grad_bytes[i] == alone.setup.recipe.grad_bytes[0]
