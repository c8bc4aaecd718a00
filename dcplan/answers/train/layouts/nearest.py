"""The layout nearest to one that does not fit: fewest changes first, then the fastest."""

from __future__ import annotations

import itertools

import numpy as np

from dcplan.llm.tables import RECOMPUTE, Array
from dcplan.training.grid import KEYS, Case, case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import fits_host, usable_bytes
from dcplan.training.step import step

CHANGED = ("tp", "pp", "vpp", "cp", "ep", "micro_batch", "recompute", "zero")


def nearest(case: Case, columns: dict[str, Array], ranks: int) -> dict[str, float] | None:
    """Find a layout that fits with the fewest changed sizes, or None.

    Sizes may change by factors of two, recompute may become heavier, sharding wider; data
    parallelism follows.
    """
    start = {k: float(columns[k][0]) for k in KEYS}
    modes = [
        float(RECOMPUTE.index(m))
        for m in case.stack.recompute
        if RECOMPUTE.index(m) >= start["recompute"]
    ]
    choices = {
        "tp": [
            v for v in (start["tp"], 2 * start["tp"], 4 * start["tp"]) if case.shape.heads % v == 0
        ],
        "pp": [
            v for v in (start["pp"], 2 * start["pp"], 4 * start["pp"]) if v <= case.shape.layers
        ],
        "vpp": sorted({start["vpp"], 1.0}, reverse=True),
        "cp": [v for v in (start["cp"], 2 * start["cp"], 4 * start["cp"]) if case.seq_len % v == 0],
        "ep": [
            v
            for v in (start["ep"] * 2.0**i for i in range(8))
            if _expert_size(case, v, start["ep"])
        ],
        "micro_batch": sorted(
            {start["micro_batch"], max(start["micro_batch"] // 2, 1.0), 1.0}, reverse=True
        ),
        "recompute": modes,
        "zero": [z for z in (start["zero"], 1.0, 2.0, 3.0) if z >= start["zero"]],
    }
    grid = np.array(
        list(itertools.product(*(dict.fromkeys(choices[k]) for k in CHANGED))), dtype=np.float64
    ).T
    table = {k: grid[i] for i, k in enumerate(CHANGED)}
    one = np.ones(grid.shape[1])
    replica = table["tp"] * table["pp"] * table["cp"]
    table |= {k: one * start[k] for k in ("etp", "schedule", "offload")}
    table["dp"] = np.minimum(
        np.floor(ranks / replica), np.floor(case.global_batch / table["micro_batch"])
    )
    groups = table["dp"] * table["cp"] * table["tp"]
    valid = (table["dp"] >= 1) & (table["pp"] * table["vpp"] <= case.shape.layers)
    valid &= np.mod(groups, table["ep"] * table["etp"]) == 0
    table["dp"] = np.maximum(table["dp"], 1.0)
    setup = case_setup(case, layout_table(case, table))
    valid &= (memory(setup).total <= usable_bytes(case)) & fits_host(case, setup)
    if not valid.any():
        return None
    changes = sum((table[k] != start[k]).astype(np.float64) for k in CHANGED)
    best = int(np.lexsort((step(setup).time_s, changes, ~valid))[0])
    return {k: float(table[k][best]) for k in KEYS}


def _expert_size(case: Case, size: float, start: float) -> bool:
    return size == start or bool(case.shape.moe_layers and case.shape.experts % size == 0)
