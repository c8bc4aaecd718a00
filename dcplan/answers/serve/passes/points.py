"""Time, rate and memory of every layout at every batch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dcplan.answers.serve.passes.resolve import PassRun
from dcplan.inputs.serving.setups import memory_terms, served_of
from dcplan.serving.forward import Served
from dcplan.serving.memory import cache_space_bytes, weight_bytes
from dcplan.serving.passes import diffusion_pass, encoder_pass, prefill_only
from dcplan.serving.search import batches, tall_layout
from dcplan.serving.tables import Array, picked
from dcplan.units import HALF_BYTES

MOST_EVERY, MOST_BATCH = 256, 8192
"""Requests of a batch up to which each number is tried, and at most."""
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Uses:
    """Memory of one accelerator by use [byte]; each broadcasts to (layouts, batches)."""

    weights: Array
    held: float
    """Text encoders and image decoder."""
    reserve: float
    activations: Array
    usable: float
    whole: float

    @property
    def total(self) -> Array:
        """Memory that the service needs."""
        return np.asarray(self.weights + self.held + self.reserve + self.activations)


@dataclass(frozen=True)
class Points:
    """Every layout (rows) at every batch (columns)."""

    run: PassRun
    served: Served
    """Layouts as a column."""
    batch: Array
    """Items of a batch of a replica, shape (batches,)."""
    seconds: Array
    """Time of a batch. [s]"""
    items_per_s: Array
    """Items per second and accelerator."""
    parts: tuple[tuple[str, Array], ...]
    """Parts of the time of a batch. [s]"""
    uses: Uses
    allowed: Flags
    """Whether the engine runs the batch: its step tokens, its requests, whole copies."""

    @property
    def fits(self) -> Flags:
        """Whether the memory of an accelerator is enough."""
        return np.asarray(self.uses.total <= self.uses.usable)

    @property
    def possible(self) -> Flags:
        """Whether a batch fits and the engine runs it."""
        return np.asarray(self.fits & self.allowed)

    @property
    def within(self) -> Flags:
        """Whether a possible batch is within the latency limit."""
        return np.asarray(self.possible & (self.seconds <= self.run.limit_s))

    def one(self, at: int) -> Served:
        """Return one layout."""
        x = self.served.layout
        flat = replace(x, tp=x.tp[:, 0], dp=x.dp[:, 0], pp=x.pp[:, 0], ep=x.ep[:, 0])
        return replace(self.served, layout=picked(flat, np.array([at])))


def points_of(run: PassRun) -> Points:
    """Return time, rate and memory of all layouts of a run at all batches."""
    served = served_of([run.service], run.layouts)
    tall = replace(served, layout=tall_layout(served.layout))
    every = np.arange(1.0, MOST_EVERY + 1.0)
    batch = np.unique(np.concatenate([every, batches(MOST_BATCH)])) * run.per_request
    wide = batch[None, :] + 0.0 * tall.layout.tp
    seconds, rate, parts = _timed(run, tall, wide)
    return Points(
        run, tall, batch, seconds, rate, parts, _uses(run, tall, wide), _allowed(run, tall, wide)
    )


def _timed(
    run: PassRun, served: Served, batch: Array
) -> tuple[Array, Array, tuple[tuple[str, Array], ...]]:
    """Return time of a batch, items per second and accelerator, and the parts of the time."""
    if run.work is not None:
        made = diffusion_pass(served, run.work, batch)
        steps = f"{run.passes:g} denoising steps"
        named = (
            ("text encoders", made.text_s),
            (steps, made.denoise_s),
            ("image decoder (VAE)", made.decode_s),
        )
        parts = tuple((name, value + 0.0 * batch) for name, value in named)
        return made.batch_s, made.images_per_s, parts
    if run.image is not None:
        found, name = encoder_pass(served, run.image, batch), "pass of the encoder"
    else:
        found, name = prefill_only(served, batch, np.array(run.tokens)), "pass of the model"
    return found.batch_s, found.items_per_s, ((name, found.batch_s),)


def _uses(run: PassRun, served: Served, batch: Array) -> Uses:
    """Return the memory of an accelerator; a batch needs the activations of all its tokens."""
    memory, x = memory_terms([run.service]), served.layout
    counted = weight_bytes(served.model, x)
    empty, full = (
        cache_space_bytes(served.model, served.device, x, replace(memory, activation_tokens=n))
        for n in (np.zeros(1), batch / x.dp * run.tokens)
    )
    whole = run.service.device["memory_bytes"]
    return Uses(
        np.asarray(counted + _uncounted_bytes(run, served) / (x.tp * x.pp)),
        sum(run.held.values()),
        run.service.reserve_bytes,
        np.asarray(empty - full),
        run.service.memory_frac * whole,
        whole,
    )


def _uncounted_bytes(run: PassRun, served: Served) -> float:
    """Return the bytes of the weights that no layer of the serving model counts.

    They are modulations and second copies of two-stream blocks, projections of patches, positions,
    and the look-up table of an encoder.
    """
    sizes = ("attention_bytes", "dense_bytes", "expert_bytes", "shared_bytes", "head_bytes")
    ones = {name: np.ones(1) for name in sizes}
    flat = replace(served.layout, **{n: np.ones(1) for n in ("tp", "dp", "pp", "ep")})
    layers = float(weight_bytes(replace(served.model, **ones), flat)[0])
    each = run.work.once_bytes[0] if run.work is not None else HALF_BYTES
    return float(max(run.shape.trunk_params - layers, 0.0) * each)


def _allowed(run: PassRun, served: Served, batch: Array) -> Flags:
    each = batch / served.layout.dp
    room = float(np.floor(run.service.step_tokens / max(run.tokens, 1.0)))
    most = max(min(room, run.service.most_running), 1.0)
    return np.asarray((each <= most) & (batch % served.layout.dp == 0))
