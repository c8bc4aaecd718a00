"""Request of ``dcplan train``: every flag with its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.request import Flag
from dcplan.units import MOST_USD_PER_ACCELERATOR_HOUR

LARGEST = 1e18
DEFAULT_BATCH_TOKENS = 4e6
"""Tokens per step if the request has none; the headline states this default."""
SETTINGS_OF_RECOVERY = (
    "checkpoint=async|blocking|peer, save-s=, interval-s=, restart-s=, detection-s=, "
    "stops-per-1000-node-days=, replaced-frac=, spares=, repair-h=, production-slowdown=, "
    "early-life=, lemon-nodes=, corruption-rollback-h=, "
    "replica-accelerators=, stall-s=, rejoin-s=, whole-job-stops-per-day=, "
    "interrupted-h-per-year=, interruption-h=, interrupted-power-frac=, interrupted-speed-frac="
)
SETTINGS_OF_SETBACKS = (
    "rollbacks=, rollback-steps=, manual-restarts=, manual-restart-h=, idle-frac=, other-work-frac="
)
SETTINGS_OF_COST = (
    "accelerator-hours=, usd-per-accelerator=, network-share-frac=, value-oom-per-year=, "
    "method=value-lost|initial-rate, average-kw=, pue=, usd-per-kwh="
)
SETTINGS_OF_POST_TRAINING = (
    "algorithm=grpo|rloo|ppo, prompts=, samples=, isl=, osl=, steps=, longest-osl=, length-cv=, "
    "updates=, epochs=, staleness=, mode=colocated|disaggregated|asynchronous, "
    "rollout-accelerators=, rollout-tp=, rollout-precision="
)
SETTINGS_OF_FINE_TUNING = (
    "algorithm=sft|lora|qlora|dpo|distill|reward, rank=, targets=, base-bits=16|8|4, packed=, "
    "mean-len=, length-cv=, padding-frac=, reference=forward|precomputed, teacher=, "
    "teacher-accelerators=, top-k="
)
SETTINGS_OF_STORAGE = (
    "level=good|better|best, bytes-per-token=, dataset-tb=, tier=, usable-pb=, kept-checkpoints="
)


@dataclass(frozen=True)
class TrainRequest:
    """One model on one cluster, or a scenario whose jobs are estimated."""

    model: Annotated[
        str,
        Flag(
            "catalog model, config.json or scenario",
            metavar="MODEL|FILE",
            complete="models",
            argument=True,
        ),
    ]
    system: Annotated[
        str | None,
        Flag("catalog system, such as dgx-h100; required with a model", complete="systems"),
    ] = None
    accelerators: Annotated[
        int | None,
        Flag(
            "number of accelerators; required with a model, except to size a cluster",
            low=1,
            high=10_000_000,
            names=("--accelerators", "-n"),
        ),
    ] = None
    tokens: Annotated[
        float | None,
        Flag(
            "training tokens, such as 15.6e12 (default: those of the published run of the model)",
            low=1,
            high=LARGEST,
        ),
    ] = None
    seq_len: Annotated[int, Flag("tokens per sequence", low=1, high=LARGEST)] = 8192
    global_batch_tokens: Annotated[
        float | None, Flag("tokens per step (default: 4e6)", low=1, high=LARGEST)
    ] = None
    precision: Annotated[
        tuple[str, ...],
        Flag(
            "bf16, fp16, fp32, tf32, fp8, fp8-rowwise, mxfp8, int8, fp4; of several, such as "
            "bf16,fp8, the fastest is used",
            comma=True,
        ),
    ] = ("bf16",)
    nic_port_gbps: Annotated[
        float | None,
        Flag(
            "one-way rate of a NIC port (default: that of the system)",
            unit="Gb/s",
            low=0.01,
            high=LARGEST,
        ),
    ] = None
    stack: Annotated[
        str | None,
        Flag(
            "training software, with a release or a date if one is known, such as "
            "torchtitan@2026-10; dcplan catalog list stacks (default: the usual stack of the "
            "system, newest release)",
            complete="stacks",
        ),
    ] = None
    layout: Annotated[
        str | None, Flag("one layout, such as tp=8,pp=16,vpp=7,mbs=1 (default: search all layouts)")
    ] = None
    list_count: Annotated[
        int, Flag("number of fastest layouts to list", low=1, high=1_000_000, names=("--list",))
    ] = 5
    usd_per_accelerator_hour: Annotated[
        float | None,
        Flag(
            "rental rate (default: an index of contracts, or the median of the catalog's offers)",
            unit="USD",
            low=0,
            high=MOST_USD_PER_ACCELERATOR_HOUR,
        ),
    ] = None
    hardware_age_years: Annotated[
        float,
        Flag(
            "time from the purchase of the hardware to the start of the run",
            unit="years",
            low=0,
            high=30,
        ),
    ] = 0.0
    cost: Annotated[
        str | None,
        Flag(
            "own hours, prices and power of the run's cost, such as "
            "accelerator-hours=2.788e6,network-share-frac=0.19,method=initial-rate; keys: "
            f"{SETTINGS_OF_COST}"
        ),
    ] = None
    site: Annotated[
        str | None,
        Flag("catalog site, for the carbon intensity and price of energy", complete="sites"),
    ] = None
    power_limit_frac: Annotated[
        float, Flag("power limit over TDP; a lower limit slows matrix products", low=0.7, high=1)
    ] = 1.0
    phases: Annotated[
        tuple[str, ...],
        Flag(
            "training phase, such as tokens=1e12,seq-len=131072,global-batch-tokens=16e6; repeatable",
            names=("--phase",),
        ),
    ] = ()
    batch_ramp: Annotated[
        str | None,
        Flag(
            "batch that rises to that of the run: start=,increment=,tokens=, all in tokens, such as "
            "start=393216,increment=32768,tokens=20e9"
        ),
    ] = None
    setbacks: Annotated[
        str | None,
        Flag(
            "setbacks that no failure rate covers, such as rollbacks=20,rollback-steps=100; keys: "
            f"{SETTINGS_OF_SETBACKS}"
        ),
    ] = None
    in_network_reduction: Annotated[bool, Flag("scale-out switches sum the gradients (SHARP)")] = (
        False
    )
    start: Annotated[
        str | None,
        Flag("quarter of the start, such as 2026-Q4; a new hardware generation is slower"),
    ] = None
    images: Annotated[
        float,
        Flag(
            "images or tiles per sequence, for a model with a vision encoder", low=0, high=LARGEST
        ),
    ] = 0.0
    wan_sites: Annotated[
        int, Flag("number of sites that train one model with few exchanges", low=1, high=10_000_000)
    ] = 1
    halls: Annotated[
        int,
        Flag(
            "number of halls of each site over which the run spreads; they exchange gradients every step",
            low=1,
            high=10_000,
        ),
    ] = 1
    hall_gbps: Annotated[
        float | None,
        Flag(
            "one-way rate between a hall and the other halls of its site",
            unit="Gb/s",
            low=0.01,
            high=LARGEST,
        ),
    ] = None
    hall_rtt_ms: Annotated[
        float | None,
        Flag(
            "round trip between two halls (default: 0.02, from the catalog)",
            unit="ms",
            low=0.0001,
            high=10_000,
        ),
    ] = None
    local_steps: Annotated[
        int, Flag("local steps between exchanges among sites", low=1, high=LARGEST)
    ] = 1
    extra_tokens_frac: Annotated[
        float | None,
        Flag(
            "additional tokens for equal quality with --local-steps above 1 (default: from the catalog)",
            low=0.0,
            high=10.0,
        ),
    ] = None
    wan_gbps: Annotated[
        float | None,
        Flag("one-way rate of the WAN link of a site", unit="Gb/s", low=0.01, high=LARGEST),
    ] = None
    wan_rtt_ms: Annotated[
        float | None,
        Flag(
            "round trip between two sites, as fabric --site-link-km gives it (default: 100, from the "
            "catalog)",
            unit="ms",
            low=0.001,
            high=10_000,
        ),
    ] = None
    sync_bytes_per_param: Annotated[
        float, Flag("bytes per parameter in an exchange; 4 is uncompressed", low=0.01, high=64)
    ] = 4.0
    wan_overlap: Annotated[bool, Flag("overlap the exchange with the next local steps")] = False
    deadline_days: Annotated[
        float | None,
        Flag(
            "find the smallest cluster that finishes in time (80% probability); with "
            "--accelerators, the probability of finishing in time",
            unit="days",
            low=0.1,
            high=1e15,
        ),
    ] = None
    max_it_mw: Annotated[
        float | None,
        Flag("find the fastest cluster within this IT power", unit="MW", low=0, high=1e15),
    ] = None
    budget_usd: Annotated[
        float | None,
        Flag("find the fastest cluster within this rental cost", unit="USD", low=1, high=1e15),
    ] = None
    reliability: Annotated[
        str | None,
        Flag(
            "failures and recovery, such as checkpoint=async,save-s=30, or a file of dcplan demand "
            "(incidents) and more keys, such as overlay.yaml,spares=4; keys (dcplan explain "
            f"reliability): {SETTINGS_OF_RECOVERY}"
        ),
    ] = None
    storage: Annotated[
        str | None,
        Flag(
            "shared storage, such as level=better,dataset-tb=500; keys (dcplan explain storage): "
            f"{SETTINGS_OF_STORAGE}"
        ),
    ] = None
    post_training: Annotated[
        str | None,
        Flag(
            "fine-tuning (SFT, LoRA, QLoRA, DPO, distillation, reward model) or reinforcement "
            "learning instead of training, such as algorithm=lora,rank=16 or "
            "algorithm=grpo,prompts=256,samples=16,isl=512,osl=4096,steps=500; keys of fine-tuning "
            f"(dcplan explain fine_tuning): {SETTINGS_OF_FINE_TUNING}; keys of reinforcement "
            f"learning (dcplan explain workloads.post_training.rl): {SETTINGS_OF_POST_TRAINING}"
        ),
    ] = None
    simulations: Annotated[
        int, Flag("number of Monte Carlo simulations of the run, stop by stop", low=0, high=100_000)
    ] = 0
    catalogs: Annotated[
        tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
    ] = ()

    @property
    def step_tokens(self) -> float:
        """Tokens per step: those of the request, or the default of at least one sequence."""
        return self.global_batch_tokens or max(DEFAULT_BATCH_TOKENS, float(self.seq_len))

    @property
    def sizes_cluster(self) -> bool:
        """Whether the request asks for the number of accelerators instead of giving it."""
        if self.max_it_mw is not None or self.budget_usd is not None:
            return True
        return self.deadline_days is not None and self.accelerators is None
