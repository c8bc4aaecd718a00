"""Cost of one training run on owned hardware: value loss, network and energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.economics.depreciation import economic_value_usd
from dcplan.economics.ranges import Value, above, as_value, within
from dcplan.units import FLOPS_PER_TFLOP, SECONDS_PER_HOUR


@dataclass(frozen=True)
class RunCost:
    """Cost of a run by line, before and after the deflator.

    It does not include staff, failed runs and buildings.

    Examples
    --------
    >>> RunCost(hardware_usd=81.0, network_usd=15.0, energy_usd=10.0).total_usd
    106.0
    """

    hardware_usd: Value
    network_usd: Value
    energy_usd: Value
    deflator: Value = 1.0
    """Prices of the reporting year divided by prices of the run. [-]"""

    @property
    def nominal_usd(self) -> Value:
        """Return the sum of the lines at prices of the run."""
        return as_value(np.asarray(self.hardware_usd) + self.network_usd + self.energy_usd)

    @property
    def total_usd(self) -> Value:
        """Return the sum of the lines at prices of the reporting year."""
        return as_value(np.asarray(self.nominal_usd) * self.deflator)


def amortized_hardware_usd(
    price_usd: Value,
    years_owned: Value,
    accelerator_hours: Value,
    *,
    oom_per_year: Value,
    hours_per_year: float,
) -> Value:
    r"""Return the value that accelerators lose during a run, as Epoch AI counts it.

    :math:`P\,10^{-kt} \cdot k \ln 10 / H` for each of its hours. The rate of decline at the start of the
    run applies to the full run.

    Parameters
    ----------
    price_usd : float or array
        Purchase price of one accelerator with its server. [USD]
    years_owned : float or array
        Time from purchase to the start of the run, at least 0. [years]
    accelerator_hours : float or array
        Accelerator-hours of the run, at least 0. [h]
    oom_per_year : float or array
        Orders of magnitude of value lost a year; Epoch AI 0.14. [1/year]
    hours_per_year : float
        8,766 (Epoch AI) or 8,760. [h]

    References
    ----------
    .. [1] B. Cottier et al., "The rising costs of training frontier AI models", arXiv 2405.21015,
       section 2, and epoch-research/training-cost-trends.

    Examples
    --------
    >>> rate = {"oom_per_year": 0.14, "hours_per_year": 8766}
    >>> round(amortized_hardware_usd(8473.88, 720 / 365.25, 132e6, **rate) / 1e6, 2)
    21.79
    """
    value = np.asarray(economic_value_usd(price_usd, years_owned, oom_per_year))
    rate_per_year = np.asarray(oom_per_year) * np.log(10.0)
    per_hour = value * rate_per_year / above("hours_per_year", hours_per_year)
    return as_value(per_hour * within("accelerator_hours", accelerator_hours, 0.0))


def lost_value_usd(
    price_usd: Value, years_owned: Value, run_years: Value, *, oom_per_year: Value
) -> Value:
    r"""Return the value that owned hardware loses during a run of any length.

    :math:`P\,10^{-kt}(1 - 10^{-kT})`. For short runs it equals :func:`amortized_hardware_usd`,
    which applies the rate of decline at the start to the full run, and for long runs exceeds the
    value that can be lost.

    Parameters
    ----------
    price_usd : float or array
        Purchase price. [USD]
    years_owned, run_years : float or array
        Time from purchase to the start of the run, and its duration, at least 0. [years]
    oom_per_year : float or array
        Orders of magnitude of value lost a year. [1/year]

    Examples
    --------
    >>> round(lost_value_usd(1000.0, 0.0, 1.0, oom_per_year=0.14), 2)
    275.56
    >>> short = lost_value_usd(1000.0, 1.0, 0.001, oom_per_year=0.14)
    >>> rate = amortized_hardware_usd(1000.0, 1.0, 8.766, oom_per_year=0.14, hours_per_year=8766)
    >>> round(short / rate, 3)
    1.0
    """
    start = np.asarray(economic_value_usd(price_usd, years_owned, oom_per_year))
    return as_value(start - np.asarray(economic_value_usd(start, run_years, oom_per_year)))


def network_from_share_usd(accelerators_usd: Value, network_share_frac: Value) -> Value:
    r"""Price a network by its share s of the whole cluster: :math:`A\,s/(1-s)`.

    Examples
    --------
    >>> round(network_from_share_usd(81.0, 0.19), 9)
    19.0
    """
    share = within("network_share_frac", network_share_frac, 0.0, 1.0)
    return as_value(
        np.asarray(accelerators_usd) * share / above("1 - network_share_frac", 1.0 - share)
    )


def run_energy_usd(
    average_kw: Value, pue: Value, accelerator_hours: Value, usd_per_kwh: Value
) -> Value:
    """Price the energy of a run: mean kW of one accelerator x PUE x accelerator-hours x price.

    Examples
    --------
    >>> round(run_energy_usd(1.0, 1.25, 1000.0, 0.08), 6)
    100.0
    """
    kwh = (
        within("average_kw", average_kw, 0.0)
        * within("pue", pue, 1.0)
        * within("accelerator_hours", accelerator_hours, 0)
    )
    return as_value(kwh * within("usd_per_kwh", usd_per_kwh))


def accelerator_hours(
    params: Value,
    tokens: Value,
    peak_tflops: Value,
    mfu_frac: Value,
    *,
    flops_per_param_token: Value = 6.0,
) -> Value:
    """Return the hours for a number of tokens at a known utilization: 6 N D / (peak x MFU).

    Parameters
    ----------
    params, tokens : float or array
        Active parameters and training tokens. [-]
    peak_tflops : float or array
        Dense peak of one accelerator, above 0. [TFLOP/s]
    mfu_frac : float or array
        Model FLOP utilization, above 0, at most 1. [-]
    flops_per_param_token : float or array
        6 for forward and backward without recomputation.

    Examples
    --------
    GPT-3 175B on 300 B tokens:

    >>> round(accelerator_hours(175e9, 300e9, 1979, 0.295))
    149879
    """
    work = (
        np.asarray(flops_per_param_token)
        * within("params", params, 0.0)
        * within("tokens", tokens, 0.0)
    )
    speed = above("peak_tflops", peak_tflops) * above(
        "mfu_frac", within("mfu_frac", mfu_frac, high=1.0)
    )
    return as_value(work / (speed * FLOPS_PER_TFLOP * SECONDS_PER_HOUR))
