"""Metrics of ``train --post-training`` with fine-tuning: what is trained, and its rates."""

from __future__ import annotations

from dcplan.specs.metric import Better, MetricSpec

TRAINED_PARAMS = MetricSpec("train.trained_params", "", "Trained parameters", main=True)
TRAINED_PARAMS_FRAC = MetricSpec(
    "train.trained_params_frac", "", "Trained parameters over all parameters of the model"
)
SAMPLE_TOKENS_PER_S = MetricSpec(
    "train.sample_tokens_per_s",
    "1/s",
    "Tokens of samples per second, without padding, of all accelerators",
    better=Better.HIGHER,
    main=True,
)
TRAINED_SAMPLES_PER_S = MetricSpec(
    "train.trained_samples_per_s",
    "1/s",
    "Samples per second; both samples of a pair count",
    better=Better.HIGHER,
)
STEPS = MetricSpec("train.fine_tuning_steps", "", "Optimizer steps for the given tokens")
TUNING_DAYS = MetricSpec(
    "train.fine_tuning_days",
    "days",
    "Duration of all steps at the predicted step time, without interruptions",
    main=True,
)
TUNING_RENT = MetricSpec(
    "train.fine_tuning_cost_usd",
    "USD",
    "Rent of the given accelerators over the duration of all steps",
    better=Better.LOWER,
    main=True,
)
