"""Software stacks and their releases as numbers of the training room."""

from __future__ import annotations

from dataclasses import fields, replace

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, ExpertPath, Stack
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.devices import GENERIC, family_of
from dcplan.llm.device_terms import StackTerms
from dcplan.provenance import Quantity

DEFAULT_STACKS = {
    "tpu": "jax-xla",
    "asic": "megatron-core",
    "wafer": "cerebras-pytorch",
    "gpu": "megatron-core",
}
NO_EFFECT = {
    "partial_graph_frac": 1.0,
    "full_graph_frac": 1.0,
    "full_passes_frac": 1.0,
    "scheduled_host_factor": 1.0,
    "context_frac": 1.0,
    "cast_factor": 1.0,
}
"""Neutral values of a stack's shares, used if its row does not have them."""
EXPERT_FIELDS = frozenset(
    {
        "dispatcher",
        "moe_host_ms",
        "moe_passes_frac",
        "moe_rate_frac",
        "moe_combined",
        "moe_graphs",
        "moe_overlap",
    }
)
"""Values that the path of the experts sets."""
CLASS_VALUES = {
    "elementwise": "stack-elementwise",
    "grad_bytes": "stack-grad-bytes",
    "low_weight_bytes": "stack-low-weight-bytes",
}
"""Catalog parameters that replace missing values of a stack's row."""


def stack_terms(row: Stack, family: str | None, log: InputLog) -> StackTerms:
    """Fill missing values of a stack: a class value, a neutral share, or 0.

    Experts take the stack's usual path on the accelerator family.
    """
    filled: dict[str, object] = {}
    for f in fields(StackTerms):
        if f.name in EXPERT_FIELDS:
            continue
        value = getattr(row, f.name)
        if isinstance(value, Quantity):
            value = value.value
        if value is None:
            key = CLASS_VALUES.get(f.name)
            value = log.parameter("training", key) if key else NO_EFFECT.get(f.name, 0.0)
        filled[f.name] = value
    filled["lean_grad_bytes"] = filled["lean_grad_bytes"] or filled["grad_bytes"]
    filled["lean_optimizer_bytes"] = filled["lean_optimizer_bytes"] or float("inf")
    terms = StackTerms(**filled)  # type: ignore[arg-type]
    path = row.experts.get(family or GENERIC, row.experts.get("default"))
    return terms if path is None else with_experts(terms, row, path)


def with_experts(terms: StackTerms, row: Stack, path: ExpertPath) -> StackTerms:
    """Return the values of a stack with its experts on a path."""
    way = row.dispatchers[path.dispatcher]
    return replace(
        terms,
        dispatcher=path.dispatcher,
        moe_host_ms=way.host_ms.value,
        moe_passes_frac=way.passes_frac.value,
        moe_rate_frac=way.rate_frac.value,
        moe_combined=way.combined,
        moe_graphs=path.graphs,
        moe_overlap=path.overlap,
    )


def default_stack(row: Accelerator) -> str:
    """Return the usual software stack of an accelerator."""
    usual = {"trainium": "neuronx", "cdna3": "primus-megatron", "cdna4": "primus-megatron"}
    return usual.get(row.family or "", DEFAULT_STACKS[row.kind])


def stack_refusal(catalog: Catalog, row: Accelerator, stack: Stack) -> str | None:
    """Return why a stack does not run on an accelerator, with the stacks that do, or None."""
    family = row.family or GENERIC
    if _runs(stack, family):
        return None
    known = [s.id for s in catalog.table("stacks", Stack).values() if _runs(s, family)]
    usual = default_stack(row)
    known.sort(key=lambda name: (name != usual, name))
    return f"{stack.id} does not run on {row.id}; stacks that do: {', '.join(known) or 'none'}"


def _runs(stack: Stack, family: str) -> bool:
    return not stack.runs_on or family in stack.runs_on


def spread_key(row: Accelerator, *, moe: bool) -> str:
    """Return the key of a stack's ``spreads`` for runs on an accelerator."""
    return f"{row.family}-moe" if moe else str(row.family)


def measured_spread(row: Accelerator, stack: Stack, *, moe: bool) -> float | None:
    """Return the half width of the 80 % interval; None if no such run was measured."""
    found = stack.spreads.get(spread_key(row, moe=moe))
    return found.value if found is not None else None


def spread_frac(log: InputLog, row: Accelerator, stack: Stack, *, moe: bool) -> float:
    """Return the half width of the 80 % interval of a step time.

    It comes from measured residuals, or from the family but at least the class value.
    """
    known = measured_spread(row, stack, moe=moe)
    if known is not None:
        return known
    key = "spread-unmeasured-moe-frac" if moe else "spread-unmeasured-frac"
    least = log.parameter("training", key)
    return max(family_of(log.catalog, row).spread_frac.value, least)
