"""Units as name suffixes, and numbers formatted for people."""

from __future__ import annotations

import functools

PICO, NANO, MICRO, MILLI, GIGA, TERA = 1e-12, 1e-9, 1e-6, 1e-3, 1e9, 1e12
PLANCK_J_S, LIGHT_M_PER_S = 6.62607015e-34, 299_792_458.0
OSNR_NOISE_GHZ = 12.5
"""Noise bandwidth of an optical signal-to-noise ratio (OSNR): 0.1 nm at 1550 nm."""
BITS_PER_BYTE = 8.0
BYTES_PER_MIB, BYTES_PER_GIB = 2.0**20, 2.0**30
HALF_BYTES, FLOAT_BYTES = 2.0, 4.0
"""Bytes of a 16-bit and of a 32-bit number."""
HOURS_PER_DAY = 24.0
DAYS_PER_WEEK = 7
HOURS_PER_WEEK = 168
DAYS_PER_YEAR = 365.25
DAYS_PER_COMMON_YEAR = 365.0
"""Year of the day count actual/365 of dated cash flows; leap years have the same."""
QUARTERS_PER_YEAR = 4
MONTHS_PER_QUARTER = 3
MONTHS_PER_YEAR = 12
DAYS_PER_QUARTER = DAYS_PER_YEAR / QUARTERS_PER_YEAR
"""A quarter is 91.3125 days."""
HOURS_PER_QUARTER = DAYS_PER_QUARTER * HOURS_PER_DAY
DAYS_PER_MONTH = DAYS_PER_YEAR / 12.0
SECONDS_PER_MINUTE = 60.0
MINUTES_PER_HOUR = 60.0
SECONDS_PER_HOUR = 3_600.0
SECONDS_PER_DAY = 86_400.0
SECONDS_PER_WEEK = 604_800.0
W_PER_KW = 1_000.0
KW_PER_MW = 1_000.0
KVA_PER_MVA = 1_000.0
A_PER_KA = 1_000.0
J_PER_KJ = 1_000.0
KJ_PER_KWH = 3_600.0
MJ_PER_KWH = 3.6
KELVIN_AT_0_C = 273.15
KG_PER_M3_OF_WATER = 1_000.0
PA_PER_KPA = 1_000.0
KPA_PER_BAR = 100.0
ATMOSPHERE_KPA = 101.325
"""Standard atmosphere at sea level."""
L_PER_M3 = 1_000.0
METERS_PER_KM = 1_000.0
EARTH_RADIUS_KM = 6_371.0
"""Mean radius."""
GRAMS_PER_KG = 1_000.0
KG_PER_TONNE = 1_000.0
GBPS_PER_TBPS = 1_000.0
GB_PER_TB = 1_000.0
TB_PER_PB = 1_000.0
FLOPS_PER_TFLOP = 1e12
GFLOPS_PER_TFLOPS = 1_000.0
TFLOPS_PER_PFLOPS = 1_000.0
HOURS_PER_MONTH = DAYS_PER_MONTH * HOURS_PER_DAY
"""730.5: a month of 365.25 / 12 days; price lists with 720 or 730 hours are converted per hour.
"""
HOURS_PER_YEAR = DAYS_PER_YEAR * HOURS_PER_DAY
"""8,766: the only length of a year in dcplan."""
TYPICAL_YEAR_HOURS = 8_760
"""Hours of a typical weather year, which has no 29 February; sums over them are scaled to a
year."""
RATE_DAYS_PER_YEAR = 365.0
"""Days per year in the catalog's failure rates, as in their sources."""
TOKENS_PER_KTOKEN = 1_000.0
TOKENS_PER_MTOKEN = 1_000_000.0
USD_PER_MUSD = 1_000_000.0
MOST_PUE = 10.0
MOST_USD_PER_KWH = 10.0
MOST_USD_PER_ACCELERATOR_HOUR = 1_000.0
MOST_USD_PER_INSTANCE_HOUR = 10_000.0
MOST_USD_PER_ACCELERATOR = 100_000_000.0
"""Largest input of each: a larger number has a wrong unit or a wrong decimal point. The cap of the
Texas power market was 9 USD/kWh; a wafer-scale accelerator costs a few million USD."""

SUFFIXES: dict[str, str] = {
    "per_1000_node_days": "1/1,000 node-days",
    "usd_per_kw_month": "USD/kW-month",
    "usd_per_kw_year": "USD/kW-year",
    "usd_per_person_year": "USD/person-year",
    "usd_per_accelerator_hour": "USD/accelerator-h",
    "usd_per_usable_tb": "USD/TB",
    "usd_per_million_tokens": "USD/M tokens",
    "usd_per_pflop_day": "USD/PFLOP-day",
    "usd_per_accelerator": "USD/accelerator",
    "usd_per_bisection_gbps": "USD/(Gb/s)",
    "usd_per_year": "USD/year",
    "usd_per_used_pflop_year": "USD/used PFLOP/s-year",
    "usd_per_instance_hour": "USD/instance-h",
    "usd_per_month": "USD/month",
    "usd_per_week": "USD/week",
    "mwh_per_month": "MWh/month",
    "hours_per_month": "h/month",
    "hours_per_week": "h/week",
    "usd_per_owned_hour": "USD/owned accelerator-h",
    "usd_per_used_hour": "USD/used accelerator-h",
    "usd_per_run": "USD/run",
    "usd_per_kwh": "USD/kWh",
    "usd_per_mwh": "USD/MWh",
    "usd_per_mw_year": "USD/MW-year",
    "usd_per_t": "USD/t",
    "usd_per_kw": "USD/kW",
    "usd_per_mw": "USD/MW",
    "usd_per_gbps": "USD/(Gb/s)",
    "usd_per_h": "USD/h",
    "usd_per_gb": "USD/GB",
    "frac_per_year": "1/year",
    "frac_per_k": "1/K",
    "frac_per_m": "1/m",
    "h_per_year": "h/year",
    "gj": "GJ",
    "t_per_year": "t/year",
    "l_per_kwh": "L/kWh",
    "l_per_min": "L/min",
    "g_per_kwh": "g/kWh",
    "gb_per_s": "GB/s",
    "tb_per_s": "TB/s",
    "tb_per_month": "TB/month",
    "kw_per_pflops": "kW/(PFLOP/s)",
    "per_mw": "1/MW",
    "per_million_accelerator_hours": "1/(million accelerator-hours)",
    "node_days": "node-days",
    "m3_per_h": "m3/h",
    "bar": "bar",
    "kva": "kVA",
    "volts": "V",
    "amps": "A",
    "ka": "kA",
    "kw": "kW",
    "mw": "MW",
    "kwh": "kWh",
    "mwh": "MWh",
    "gbps": "Gb/s",
    "tbps": "Tb/s",
    "gb": "GB",
    "gib": "GiB",
    "mib": "MiB",
    "tb": "TB",
    "pb": "PB",
    "usd": "USD",
    "c": "°C",
    "s": "s",
    "ms": "ms",
    "us": "us",
    "ns": "ns",
    "h": "h",
    "days": "days",
    "weeks": "weeks",
    "months": "months",
    "quarters": "quarters",
    "years": "years",
    "tflops": "TFLOP/s",
    "pflops": "PFLOP/s",
    "tops": "TOP/s",
    "kg": "kg",
    "t": "t",
    "m": "m",
    "km": "km",
    "m2": "m2",
    "m3": "m3",
    "frac": "fraction",
}
"""Suffix of a numeric name -> unit as printed."""
BY_LENGTH = sorted(SUFFIXES, key=len, reverse=True)
"""Suffixes, longest first: the order in which they are tried."""


def from_db(decibels: float) -> float:
    """Return the ratio of decibels.

    Examples
    --------
    >>> from_db(20.0)
    100.0
    """
    return float(10.0 ** (decibels / 10.0))


@functools.cache
def unit_suffix(name: str) -> tuple[str, str]:
    """Return a name without its unit, and the unit; a name without one stays whole.

    The longest known suffix counts. A suffix in front of ``_low``, ``_high`` or a percentile counts
    too: the rest stays in the name.

    Examples
    --------
    >>> unit_suffix("rated_kw"), unit_suffix("racks"), unit_suffix("days_p50")
    (('rated', 'kW'), ('racks', ''), ('p50', 'days'))
    >>> unit_suffix("tokens_per_s")  # a rate of tokens, not a time
    ('tokens_per_s', '')
    """
    for suffix in BY_LENGTH:
        if name == suffix:
            return "", SUFFIXES[suffix]
        if name.endswith("_" + suffix):
            rate = name.endswith("_per_" + suffix)
            return (name, "") if rate else (name[: -len(suffix) - 1], SUFFIXES[suffix])
    stem, _, last = name.rpartition("_")
    if stem and (last in ("low", "high") or (last[:1] == "p" and last[1:].isdigit())):
        rest, unit = unit_suffix(stem)
        return (f"{rest}_{last}".lstrip("_"), unit) if unit else (name, "")
    return name, ""


@functools.cache
def unit_of(name: str) -> str:
    """Return the unit of a numeric name, or of the last name of a dotted key.

    It follows from the longest known suffix; empty if dimensionless.

    Examples
    --------
    >>> unit_of("energy_usd_per_kwh"), unit_of("rated_kw"), unit_of("racks")
    ('USD/kWh', 'kW', '')
    >>> unit_of("sites.ashburn.energy.usd_per_kwh[2]"), unit_of("power.block-mw")
    ('USD/kWh', 'MW')
    """
    name = name.rpartition(".")[2].partition("[")[0].replace("-", "_")
    return unit_suffix(name)[1]


def si(value: float, digits: int = 3) -> str:
    """Format a number with k, M, G and three significant digits.

    Examples
    --------
    >>> si(412_300_000), si(0.0123), si(7.5), si(-1500), si(0)
    ('412 M', '0.0123', '7.5', '-1.5 k', '0')
    """
    size = abs(value)
    for scale, mark in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if size >= scale:
            return f"{_significant(value / scale, digits)}{mark}"
    return _significant(value, digits)


def _significant(value: float, digits: int) -> str:
    return f"{value:.{digits}g}" if abs(value) < 10**digits - 0.5 else f"{value:.0f}"


def money(value: float) -> str:
    """Format USD for people with k, M, bn.

    Examples
    --------
    >>> money(4.19e9), money(335_051_040), money(-12_300)
    ('4.19 bn', '335 M', '-12.3 k')
    """
    return si(value).replace(" G", " bn").replace(" T", " tn")


def megawatts(power_mw: float) -> str:
    """Write a power with one decimal, and with two digits from one kilowatt to one megawatt.

    Examples
    --------
    >>> megawatts(7.703), megawatts(0.06952), megawatts(0.0)
    ('7.7 MW', '0.07 MW', '0.0 MW')
    """
    return f"{power_mw:.2g} MW" if 1e-3 <= power_mw < 1 else f"{power_mw:,.1f} MW"


def quarter_index(quarter: str) -> int:
    """Return the quarters since year 0 of ``YYYY-Qn``, so that differences count quarters.

    Raises
    ------
    ValueError
        If the text is not of the form ``2027-Q3``.

    Examples
    --------
    >>> quarter_index("2027-Q1") - quarter_index("2026-Q4")
    1
    """
    year, mark, number = quarter.partition("-Q")
    if not (mark and len(year) == 4 and year.isdigit() and number in {"1", "2", "3", "4"}):
        msg = f"expected a quarter such as 2027-Q3, got {quarter!r}"
        raise ValueError(msg)
    return int(year) * QUARTERS_PER_YEAR + int(number) - 1


def quarter_name(index: int) -> str:
    """Invert :func:`quarter_index`.

    Examples
    --------
    >>> quarter_name(quarter_index("2027-Q3") + 2)
    '2028-Q1'
    """
    return f"{index // QUARTERS_PER_YEAR:04d}-Q{index % QUARTERS_PER_YEAR + 1}"
