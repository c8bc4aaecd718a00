"""Rollout pools from catalog values: the time of a step's samples at every count."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.catalog.schema import Accelerator, Engine, Model, WeightFormat
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.engines import release_of
from dcplan.inputs.serving.setups import Checkpoint, Service, memory_terms, served_of, service
from dcplan.inputs.serving.software import runs_on
from dcplan.inputs.training.devices import HOST_ACCELERATORS
from dcplan.llm.architecture import Architecture
from dcplan.llm.tables import Array
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.serving.memory import weight_bytes
from dcplan.serving.rollout import Samples, batch_s, output_lengths, slots, stream_s
from dcplan.serving.search import Layout, Limits, layouts, tall_layout

ENGINE = "vllm"
WIDE = "bf16"
MAX_REPLICA = 64
"""Accelerators of a rollout engine that the search tries."""


@dataclass(frozen=True)
class Place:
    """Accelerators on a link."""

    accelerator: Accelerator
    unit: int
    """Accelerators of one system; a training pool has complete systems if it is larger."""
    nic_gb_per_s: float | None
    """Scale-out rate of one accelerator, one way; None for the class value of its family."""
    domain: int | None
    """Accelerators of one scale-up domain; None for that of the accelerator."""

    @property
    def host_accelerators(self) -> int:
        """Accelerators that share a host."""
        return min(self.unit, HOST_ACCELERATORS)


@dataclass(frozen=True)
class Engines:
    """The policy in rollout engines on one accelerator, with the layouts to try."""

    service: Service
    layouts: tuple[Layout, ...]

    @property
    def weight_bytes(self) -> float:
        """Bytes of all weights."""
        served = served_of([self.service], [Layout(1)])
        return float(weight_bytes(served.model, served.layout)[0])


@dataclass(frozen=True)
class RolloutPool:
    """Time of one step's samples at every count; infinite where the policy does not fit."""

    accelerators: Array
    time_s: Array
    layouts: tuple[Layout, ...]
    """Layout of each count."""

    def used(self, i: int) -> int:
        """Return the accelerators in complete replicas."""
        size = self.layouts[i].accelerators
        return int(self.accelerators[i]) // size * size


def record_work(work: PostTraining, log: InputLog, key: str) -> None:
    """Log the numbers of the work under a key."""
    for name in ("prompts", "samples", "steps", "updates", "epochs", "staleness"):
        own = Status.INPUT if name in work.model_fields_set else Status.DEFAULT
        log.take(f"{key}.{name}", Quantity(value=float(getattr(work, name)), status=own))
    for name in ("isl", "osl", "longest_osl"):
        given = getattr(work, name)
        if given is not None:
            log.take(f"{key}.{name}", given, Status.INPUT)


def samples_of(work: PostTraining, log: InputLog, key: str = "post_training") -> Samples:
    """Return the samples of a step with their lengths; samples of one prompt share its cache.

    ``key`` is that of the work in the log.
    """
    cv = log.chosen(f"{key}.length_cv", work.length_cv, "training", "post-training-length-cv")
    cut = work.longest_osl.value if work.longest_osl is not None else np.inf
    lengths = output_lengths(work.osl.value, cv, cut, float(work.number))
    shared = work.isl.value * (1.0 - 1.0 / work.samples)
    return Samples(float(work.number), work.isl.value, shared, lengths)


def engines_of(
    work: PostTraining, shape: Architecture, row: Model | None, place: Place, log: InputLog
) -> Engines | str:
    """Return the rollout engines of a policy on a place, or what is missing.

    Parameters
    ----------
    work : PostTraining
        Samples, and the layout and precision of the engines if given.
    shape : Architecture
        The policy as it is served.
    row : Model, optional
        Its catalog row.
    place : Place
        The accelerators.
    log : InputLog
        Record of the inputs.
    """
    catalog = log.catalog
    precision = catalog.find("formats", work.rollout_precision or WIDE, WeightFormat)
    if precision is None:
        return f"rollout precision {work.rollout_precision!r} is not in the catalog"
    engine = catalog.get("engines", ENGINE, Engine)
    if not runs_on(engine, place.accelerator):
        return f"the rollout engine {engine.id} does not run on {place.accelerator.id}"
    found = service(
        log,
        Checkpoint(shape, row, precision, "half"),
        place.accelerator,
        engine,
        release_of(engine),
        nic_gb_per_s=place.nic_gb_per_s,
        domain=place.domain,
    )
    if isinstance(found, str):
        return found
    if work.rollout_tp is not None:
        if shape.heads % work.rollout_tp:
            return f"rollout_tp of {work.rollout_tp} does not divide {shape.heads} heads"
        return Engines(found, (Layout(work.rollout_tp),))
    domain = max(int(found.device["domain"]), place.host_accelerators)
    experts = shape.experts if shape.moe_layers else 0
    limits = Limits(shape.heads, experts, shape.layers, domain, MAX_REPLICA)
    return Engines(found, tuple(layouts(limits)))


def pool_of(
    engines: Engines,
    samples: Samples,
    accelerators: Array,
    staleness: int = 0,
    memory_frac: float | None = None,
) -> RolloutPool:
    """Return the rollout pool at every count: the fastest layout of complete replicas.

    Parameters
    ----------
    engines : Engines
        The policy in rollout engines.
    samples : Samples
        Samples of one step.
    accelerators : array, ascending
        Counts.
    staleness : int, default 0
        Steps by which samples may be old; 0 generates each step's batch from start to end. [-]
    memory_frac : float, optional
        Share of the memory for the engine, if training has the rest.
    """
    one = engines.service
    if memory_frac is not None:
        one = replace(one, memory_frac=memory_frac)
    served, memory = served_of([one], engines.layouts), memory_terms([one])
    tall = replace(served, layout=tall_layout(served.layout))
    sizes = np.array([[x.accelerators] for x in engines.layouts], dtype=np.float64)
    replicas = np.floor(accelerators[None, :] / sizes)
    requests = samples.number / np.clip(replicas, 1.0, samples.number)
    most = slots(tall, memory, samples, one.most_running)
    budget = np.array(one.step_tokens)
    time = batch_s(tall, samples, requests, most, budget)
    if staleness:
        stream = stream_s(tall, samples, requests, most, budget, float(staleness))
        time = np.minimum(time, stream)
    time = np.where((replicas >= 1.0) & (most >= 1.0), time, np.inf)
    best = np.argmin(time, axis=0)
    fastest = time[best, np.arange(accelerators.size)]
    return RolloutPool(accelerators, fastest, tuple(engines.layouts[int(i)] for i in best))


def sync_s(engines: Engines, place: Place, accelerators: Array, log: InputLog) -> Array:
    r"""Return the time to send new weights from the trainer to the rollout engines.

    .. math:: T = \frac{W}{f\,a\,B}

    with W bytes of weights, a accelerators of a host and the rate B of each: every host of the
    rollout pool receives all weights. Within one scale-up domain, B is the scale-up rate.
    """
    device, share = engines.service.device, log.parameter("training", "post-training-sync-frac")
    inside = accelerators <= device["domain"]
    rate = np.where(inside, device["link_bytes_per_s"], device["nic_bytes_per_s"])
    return np.asarray(engines.weight_bytes / (share * place.host_accelerators * rate))
