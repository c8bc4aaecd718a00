"""Reader of samples: names, forms, ranges, units, times, and what is counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dcplan.errors import InputError
from dcplan.inputs.counters.findings import MEANINGS, Oddity
from dcplan.inputs.counters.names import Counter
from dcplan.inputs.counters.read import ReadCounters, is_counters, read_counters
from dcplan.inputs.logs.options import LogOptions

OPTIONS = LogOptions()
WIDE = "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL,DCGM_FI_PROF_SM_ACTIVE,DCGM_FI_DEV_POWER_USAGE"


def written(tmp_path: Path, text: str, name: str = "samples.csv") -> Path:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


def read(tmp_path: Path, text: str, options: LogOptions = OPTIONS) -> ReadCounters:
    return read_counters([written(tmp_path, text)], options)


def found(got: ReadCounters) -> dict[Oddity, tuple[int, str, str]]:
    return {n.kind: (n.count, str(n.place), n.what) for n in got.notes.findings()}


def test_wide_and_long_form_read_equal(tmp_path: Path) -> None:
    wide = read(
        tmp_path, f"{WIDE}\n0,a,0,90,0.5,300\n0,a,1,0,0,60\n15,a,0,80,0.25,310\n15,a,1,,0.01,61\n"
    ).samples
    rows = ["__name__,timestamp,Hostname,gpu,value"]
    for at, gpu, util, sm, power in (
        (0, 0, 90, 0.5, 300), (0, 1, 0, 0, 60), (15, 0, 80, 0.25, 310), (15, 1, "", 0.01, 61),
    ):  # fmt: skip
        rows.append(f"DCGM_FI_PROF_SM_ACTIVE,{at},a,{gpu},{sm}")
        rows.append(f"DCGM_FI_DEV_POWER_USAGE,{at},a,{gpu},{power}")
        rows.append(f"DCGM_FI_DEV_XID_ERRORS,{at},a,{gpu},0")
        rows.append(f"DCGM_FI_DEV_GPU_UTIL,{at},a,{gpu},{util}")
    got = read(tmp_path, "\n".join(rows) + "\n")
    long = got.samples
    assert found(got)[Oddity.NOT_READ][0] == 4
    for counter in (Counter.UTIL, Counter.SM, Counter.POWER):
        np.testing.assert_array_equal(wide.values[counter], long.values[counter])
    assert wide.at_s.tolist() == long.at_s.tolist() == [0, 15, 0, 15]
    assert np.isnan(wide.values[Counter.UTIL][3])  # unknown, not 0
    assert wide.values.keys() == long.values.keys()


def test_names_of_dcgm_4(tmp_path: Path) -> None:
    """SM_UTIL_RATIO, TENSOR_UTIL_RATIO and BOARD_POWER_WATTS are 1002, 1004 and 155."""
    text = (
        "time,UUID,DCGM_FI_PROF_SM_UTIL_RATIO,DCGM_FI_PROF_TENSOR_UTIL_RATIO,"
        "DCGM_FI_DEV_BOARD_POWER_WATTS,DCGM_FI_DEV_FB_USED\n0,g,0.5,0.25,400,70000\n"
    )
    values = read(tmp_path, text).samples.values
    got = {k: v.tolist() for k, v in values.items()}
    assert got == {
        Counter.SM: [0.5], Counter.TENSOR: [0.25], Counter.POWER: [400.0], Counter.MEMORY: [70000.0],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "percent", "noted"),
    [((0.0, 0.99), [0.0, 99.0], True), ((0.0, 99.0), [0.0, 99.0], False)],
)
def test_gpu_util_ratio_is_percent_or_ratio(
    tmp_path: Path, values: tuple[float, float], percent: list[float], noted: bool
) -> None:
    """DCGM 4 renamed field 203, in percent; later releases have a ratio under this name."""
    text = "time,UUID,DCGM_FI_DEV_GPU_UTIL_RATIO\n" + "".join(
        f"{k},g,{x}\n" for k, x in enumerate(values)
    )
    got = read(tmp_path, text)
    assert got.samples.values[Counter.UTIL].tolist() == percent
    assert (Oddity.UTIL_UNIT in found(got)) is noted


def test_a_value_outside_its_range_is_a_finding_and_unknown(tmp_path: Path) -> None:
    """SM_ACTIVE is a ratio: 45 is percent. GPU_UTIL ends at 100, power is not negative."""
    got = read(tmp_path, f"{WIDE}\n0,a,0,90,0.4,300\n15,a,0,101,45,-3\n")
    assert [np.isnan(v[1]) for v in got.samples.values.values()] == [True] * 3
    noted = [n for n in got.notes.findings() if n.kind is Oddity.OUT_OF_RANGE]
    assert [n.place.line for n in noted] == [3, 3, 3]
    assert all("samples.csv" in str(n.place) for n in noted)
    assert "SM_ACTIVE is 0 to 1, the first of them is 45" in noted[1].what
    assert "GPU_UTIL is 0 to 100 %" in noted[0].what


def test_blanks_of_dcgm_are_unknown(tmp_path: Path) -> None:
    """DCGM_INT64_BLANK and DCGM_FP64_BLANK are numbers, N/A is a text."""
    text = f"{WIDE}\n0,a,0,9223372036854775792,140737488355328.0,N/A\n15,a,0,5,0.5,100\n"
    got = read(tmp_path, text)
    assert [bool(np.isnan(v[0])) for v in got.samples.values.values()] == [True] * 3
    assert found(got)[Oddity.NO_VALUE][0] == 1
    assert Oddity.OUT_OF_RANGE not in found(got)


def test_prometheus_times_are_milliseconds(tmp_path: Path) -> None:
    got = read(tmp_path, f"{WIDE}\n1690000000000,a,0,1,0.1,100\n1690000015000,a,0,1,0.1,100\n")
    assert got.samples.at_s.tolist() == [1_690_000_000.0, 1_690_000_015.0]
    assert found(got)[Oddity.MILLISECONDS][0] == 2


def test_local_times_need_a_zone_and_pass_the_repeated_hour(tmp_path: Path) -> None:
    """Berlin, 29 October 2023: 02:30 came at 00:30 and 01:30 UTC (1698539400, 1698543000)."""
    rows = "".join(f"2023-10-29 {h},a,0,1,0.1,100\n" for h in ("02:30:00", "02:45:00", "02:30:00"))
    with pytest.raises(InputError, match="no zone"):
        read(tmp_path, f"{WIDE}\n{rows}")
    got = read(tmp_path, f"{WIDE}\n{rows}", LogOptions(timezone="Europe/Berlin"))
    assert got.samples.at_s.tolist() == [1_698_539_400.0, 1_698_540_300.0, 1_698_543_000.0]
    assert Oddity.TWICE not in found(got)


def test_the_collector_of_prometheus_is_no_job(tmp_path: Path) -> None:
    head = "timestamp,instance,job,gpu,UUID,DCGM_FI_DEV_GPU_UTIL"
    got = read(tmp_path, f"{head}\n0,n1:9400,dcgm-exporter,0,G1,5\n")
    assert "job" not in got.samples.labels
    assert Oddity.SCRAPE_JOB in found(got)
    got = read(tmp_path, f"{head},exported_pod\n0,n1:9400,dcgm-exporter,0,G1,5,train-0\n")
    assert got.samples.names["job"] == ("train-0",)


def test_instances_and_repeated_samples(tmp_path: Path) -> None:
    head = "timestamp,UUID,GPU_I_ID,DCGM_FI_PROF_SM_ACTIVE"
    got = read(tmp_path, f"{head}\n0,G1,,0.5\n0,G1,3,0.9\n0,G1,,0.7\n15,G1,,0.5\n")
    assert got.samples.values[Counter.SM].tolist() == [0.5, 0.5]
    count, place, _ = found(got)[Oddity.PARTITION]
    assert (count, place.endswith("samples.csv:3")) == (1, True)
    assert found(got)[Oddity.TWICE][0] == 1


def test_counters_of_different_times_are_named(tmp_path: Path) -> None:
    text = "time,UUID,metric,value\n0,g,GPU_UTIL,5\n7,g,SM_ACTIVE,0.5\n15,g,GPU_UTIL,5\n"
    assert Oddity.APART in found(read(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time,gpu,SM_ACTIVE\n0,0,0.5\n", "UUID, or Hostname and gpu"),
        ("time,UUID,FOO\n0,g,0.5\n", "a counter"),
        (f"{WIDE}\n0,a,0,many,0.5,100\n", "'many' is not a number"),
        (f"{WIDE}\nlater,a,0,1,0.5,100\n", "neither seconds nor a date"),
        (f"{WIDE}\n,a,0,1,0.5,100\n", "no time of the sample"),
        (f"{WIDE}\n0,,0,1,0.5,100\n", "no node with an index"),
        (f"{WIDE}\n0,a,0,1\n", "4 cells in a row, 6 in the header"),
        (f"{WIDE}\n", "no sample"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_row(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        read(tmp_path, text)
    assert all("samples.csv" in str(p.place) for p in error.value.problems)


def test_recognized_by_the_header(tmp_path: Path) -> None:
    assert is_counters(written(tmp_path, f"{WIDE}\n"))
    assert is_counters(written(tmp_path, "time,UUID,counter,value\n"))
    assert not is_counters(written(tmp_path, "submit,start,end,n\n"))
    assert not is_counters(written(tmp_path, "timestamp,input_tokens,output_tokens\n"))
    assert not is_counters(written(tmp_path, ""))


def test_every_oddity_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Oddity)
