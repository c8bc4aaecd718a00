"""Coefficients of the training model from catalog parameters of the kind ``training``."""

from __future__ import annotations

from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import InputLog
from dcplan.llm.coefficients import AttentionRamp, Coefficients, Operators, Tiling
from dcplan.units import GIGA

KIND = "training"


def coefficients(log: InputLog) -> Coefficients:
    """Resolve the coefficients of step time and memory.

    The coefficient that is only used to compare with measured runs is not an input.
    """

    def value(key: str) -> float:
        return log.parameter(KIND, key)

    judged = log.catalog.get(KIND, "measured-memory-factor", Parameter).value.value

    return Coefficients(
        tiling=Tiling(side=value("gemm-tile-side"), wave_power=value("gemm-wave-power")),
        ramp=AttentionRamp(
            forward_work=value("attention-forward-work"),
            backward_work=value("attention-backward-work"),
            backward_frac=value("attention-backward-frac"),
        ),
        operators=Operators(
            attention=value("operators-attention"),
            latent=value("operators-latent"),
            mlp=value("operators-mlp"),
            mamba=value("operators-mamba"),
            ends=value("operators-ends"),
        ),
        score_bytes=value("attention-score-bytes"),
        unfused_frac=value("unfused-product-frac"),
        scan_frac=value("scan-frac"),
        backward_passes=value("backward-passes"),
        cover_frac=value("cover-frac"),
        backward_over_forward=value("backward-over-forward"),
        reserve_bytes=value("process-reserve-gb") * GIGA,
        layout_tolerance_frac=value("layout-tolerance-frac"),
        search_memory_frac=value("search-memory-frac"),
        measured_memory_factor=judged,
        offload_bytes_per_s=value("offload-min-gb-per-s") * GIGA,
    )
