"""Published worked examples of cost: inputs and printed results, as facts with their sources.

Accounts and prices are as printed there, stale ones too: they test arithmetic, not the market.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class EpochRun(NamedTuple):
    """One training run of Epoch AI, "The rising costs of training frontier AI models"."""

    id: str
    price_usd: float
    acquired: str
    start: str
    accelerator_hours: float
    tdp_kw: float
    server_multiplier: float
    use_of_peak_frac: float
    pue: float
    usd_per_kwh: float
    deflator: float
    total_usd: float


# arXiv 2405.21015; epoch-research/training-cost-trends at 263c40a: hours, prices and totals of
# model_costs.csv
EPOCH_OOM_PER_YEAR = 0.14
EPOCH_NETWORK_SHARE = 0.19
EPOCH_HOURS_PER_YEAR = 8766.0
with (Path(__file__).parent / "epoch_runs.csv").open(encoding="utf-8") as file:
    EPOCH_RUNS = [
        EpochRun(**{k: v if k in {"id", "acquired", "start"} else float(v) for k, v in row.items()})
        for row in csv.DictReader(file)
    ]

# SemiAnalysis, ClusterMAX TCO page, 2026: 4,096 GPUs, months of 720 h; lines printed in whole USD
CLUSTERMAX_GPUS = 4096
CLUSTERMAX_HOURS_PER_MONTH = 720.0
CLUSTERMAX = {
    "CMX-HYPER": {
        "accelerators_usd": 6_423_183.0,
        "goodput_loss_usd": 131_804.0,
        "usd_per_gpu_h": 2.178,
        "goodput_frac": 1 - 0.02052,
    },
    "CMX-SILVER": {
        "accelerators_usd": 5_898_240.0,
        "goodput_loss_usd": 202_015.0,
        "usd_per_gpu_h": 2.0,
        "goodput_frac": 1 - 0.03425,
    },
}

# GAO-20-195G, Cost Estimating and Assessment Guide, 2020, table 12; thousand USD: low, most likely,
# high
GAO_LINES = {
    "Airframe": (17_955, 19_645, 21_785),
    "Propulsion": (8_500, 10_553, 13_000),
    "Communications": (4_000, 4_306, 5_100),
    "Navigation": (4_100, 4_305, 4_650),
    "Computer": (550, 600, 650),
    "Software": (32_300, 35_547, 52_500),
    "Integration & test": (1_950, 2_136, 2_600),
}

# AWS, Savings Plans User Guide, "Understanding how Savings Plans apply to your AWS usage" (rates
# are illustrative)
# usage -> quantity in the hour, on-demand rate, Compute plan rate; Lambda: 1 M requests of 0.5 GB
# for 3 s
AWS_HOUR = {
    "r5.4xlarge": (4.0, 1.00, 0.70),
    "fargate-vcpu": (400.0, 0.04, 0.03),
    "fargate-gb": (1_600.0, 0.004, 0.003),
    "m5.24xlarge": (1.0, 10.00, 8.20),
    "lambda-gb-s": (1.5e6, 0.000015, 0.00001275),
    "lambda-million": (1.0, 0.20, 0.20),
}
AWS_R5_PLAN_RATE = 0.60

# Microsoft support pages of PMT, PV, CUMIPMT, NPV, IRR, XNPV and XIRR, example tables
EXCEL_IRR_FLOWS = [-70_000, 12_000, 15_000, 18_000, 21_000, 26_000]
EXCEL_DATED_FLOWS = {
    "2008-01-01": -10_000,
    "2008-03-01": 2_750,
    "2008-10-30": 4_250,
    "2009-02-15": 3_250,
    "2009-04-01": 2_750,
}

MACRS_5 = [0.2000, 0.3200, 0.1920, 0.1152, 0.1152, 0.0576]
"""IRS Publication 946, table A-1: 5-year property, half-year convention."""
