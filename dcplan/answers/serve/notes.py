"""Notes of a service: defaults, what is left out, and where systems do not compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dcplan.answers.common.model_config import model_notes
from dcplan.answers.serve.cost import cost_notes, idle_notes, order_notes, rent_basis
from dcplan.answers.serve.metrics import Priced
from dcplan.catalog.model_names import model_of
from dcplan.llm.configs.names import window_tokens


def notes_of(able: Sequence[Priced]) -> list[str]:
    """Return the notes on the cheapest service, and on its comparison with the others."""
    best = able[0]
    return [
        *best.found.run.software.notes,
        *model_notes(best.found.run.log.catalog, best.found.run.request.model),
        *_of_load(best),
        *cost_notes(best.found.run, best),
        *idle_notes(best.found.run, best.found.pools),
        *_of_work(best),
        *_of_evidence(able),
        *_differences(able),
    ]


def _of_load(best: Priced) -> Iterator[str]:
    """Yield notes on spares, on a service without a load, and on a trace."""
    found, run = best.found, best.found.run
    if run.request.spares is None and run.spare_replicas:
        yield "one spare replica (N + 1), by default with a load; set --spares"
    if run.rate is None and run.request.concurrency is None:
        yield "no --rate: cost and power are those of the highest rate in every hour"
    held = found.rates.copy(found.at).limits.kv_tokens
    rejected = run.rejected_frac(held)
    if rejected:
        yield (
            f"{rejected:.2%} of the requests are longer than the cache of {held:,.0f} tokens: the "
            "engine rejects them, and no latency counts them"
        )


def _of_work(best: Priced) -> Iterator[str]:
    run = best.found.run
    row = model_of(run.log.catalog, run.model)
    context = window_tokens(row.config) if row is not None else 0
    longest = run.need.input_tokens + run.need.output_tokens
    if context and longest > context:
        yield f"a request of {longest:,.0f} tokens is longer than the context of the model, {context:,}"
    if run.vision is not None:
        yield from run.vision.notes
    elif run.shape.tower is not None:
        yield "no images: prompts are text tokens, without the vision encoder; set --images"
    if run.request.speculative:
        yield (
            f"speculative decoding: {run.plan.tokens_per_step:.2f} tokens per step of "
            f"{run.plan.draft_tokens:g} draft tokens"
        )


def _of_evidence(able: Sequence[Priced]) -> Iterator[str]:
    """Yield the systems that no measured row of their engine has, whose intervals are wider."""
    bare = [
        p.found.run.machine.name
        for p in able
        if p.found.run.machine.accelerator.id not in p.found.run.software.engine.measured_on
    ]
    if bare:
        yield f"no measured row of this engine on {' and '.join(bare)}: the interval is wider"


def _differences(able: Sequence[Priced]) -> Iterator[str]:
    """Yield in what the compared systems differ, apart from the hardware."""
    yield from order_notes(able, [p.found.run.machine.name for p in able])
    weights = _by(able, lambda p: p.found.run.software.precision.id)
    if weights:
        yield f"formats of the weights differ: {weights}; the quality of outputs may differ too"
    caches = _by(able, lambda p: p.found.run.software.cache_text)
    if caches:
        yield f"formats of the KV cache differ: {caches}"
    rents = _by([p for p in able if p.rented], lambda p: str(rent_basis(p.found.run)))
    if rents:
        yield f"rents have different bases: {rents}; -v has their sources"


def _by(able: Sequence[Priced], what: Callable[[Priced], str]) -> str:
    """Return each value with its systems; empty if all are equal."""
    groups: dict[str, list[str]] = {}
    for each in able:
        groups.setdefault(what(each), []).append(each.found.run.machine.name)
    if len(groups) < 2:
        return ""
    return ", ".join(f"{value} on {' and '.join(names)}" for value, names in groups.items())
