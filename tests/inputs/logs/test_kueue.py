"""Traps of Kueue's workloads."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from dcplan.demand.log.jobs import State
from dcplan.inputs.logs.options import Kind
from dcplan.inputs.logs.traps import Trap
from tests.inputs.logs.files import DATA, counts, read, refused


def at(hour: int, minute: int) -> float:
    return datetime(2025, 3, 1, hour, minute, tzinfo=UTC).timestamp()


def test_waits_end_with_the_reservation_of_quota_and_templates_have_the_requests() -> None:
    found = read("kueue_v1beta1.json", mig_fractions={"1g.10gb": 0.125})
    log = found.log
    done = log.users.index("vision") == log.user
    # 1 x 8 in requests and 3 x 8 in limits
    assert log.accelerators[done].tolist() == [32.0]
    assert (log.submit_s[done][0], log.start_s[done][0]) == (at(10, 0), at(10, 5))
    assert (log.end_s[done][0], log.state[done][0]) == (at(11, 5), State.COMPLETED)
    assert (log.per_node[done][0], log.limit_s[done][0]) == (8.0, 7200.0)
    assert log.priority[done].tolist() == [100.0]
    assert found.files[0].kind is Kind.KUEUE
    assert (found.files[0].first_s, found.files[0].last_s) == (at(10, 0), at(11, 5))


def test_an_evicted_workload_waits_from_its_eviction() -> None:
    found = read("kueue_v1beta1.json", mig_fractions={"1g.10gb": 0.125})
    log = found.log
    evicted = log.accelerators == 4.0
    assert log.submit_s[evicted].tolist() == [at(10, 5)]
    assert log.state[evicted].tolist() == [State.PENDING]
    assert log.reasons[log.reason[evicted][0]] == "Preempted"
    assert counts(found)[Trap.EVICTED] == 1
    text = next(f.what for f in found.findings if f.kind is Trap.EVICTED)
    assert "1800 s of earlier runs" in text  # the misspelled field of v1beta1
    assert counts(found)[Trap.LAST_CONDITION] == 4


def test_slices_count_by_share_or_apart_and_other_objects_are_left_out() -> None:
    found = read("kueue_v1beta1.json", mig_fractions={"1g.10gb": 0.125})
    # 2 pods of 2 slices of an eighth
    assert 0.5 in found.log.accelerators.tolist()
    assert counts(found)[Trap.PARTITION] == 1
    assert counts(found)[Trap.CPU_ONLY] == 1
    assert counts(found)[Trap.OTHER_OBJECT] == 1
    without = read("kueue_v1beta1.json")
    assert len(without.log) == 2
    assert counts(without)[Trap.PARTITION_UNKNOWN] == 1
    assert Trap.NO_FINISHED not in counts(found)


def test_a_device_of_an_unknown_name_is_named_and_never_counts_as_nothing(tmp_path) -> None:
    data = json.loads((DATA / "kueue_v1beta2.json").read_text())
    item = data["items"][0]
    asks = {"huawei.com/Ascend910": "8", "example.com/disk": "10Gi", "rdma/hca": "1"}
    item["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": asks
    }
    item["status"]["admission"]["podSetAssignments"][0]["resourceUsage"] = {}
    file = tmp_path / "ascend.json"
    file.write_text(json.dumps({"items": data["items"]}))
    found = read(str(file))
    (unknown,) = (f for f in found.findings if f.kind is Trap.GRES_UNKNOWN)
    assert unknown.what.endswith(": example.com/disk, huawei.com/Ascend910")
    shares = read(str(file), mig_fractions={"huawei.com/Ascend910": 1.0})
    assert 8.0 in shares.log.accelerators.tolist()


def test_after_readmission_only_a_known_requeue_gives_a_wait() -> None:
    found = read("kueue_v1beta2.json")
    log = found.log
    eights = log.accelerators == 8.0
    order = np.argsort(log.submit_s[eights])
    # readmitted: evicted at an unknown time, so none of 90 min counts as wait for capacity
    # requeued at 09:10: 20 min
    wait = (log.start_s - np.maximum(log.submit_s, log.eligible_s))[eights][order]
    assert wait.tolist() == [0.0, 1200.0]
    assert counts(found)[Trap.READMITTED] == 1
    assert counts(found)[Trap.EVICTED] == 2


def test_deleted_partly_admitted_and_claimed_workloads() -> None:
    found = read("kueue_v1beta2.json")
    log = found.log
    deleted = log.users.index("b") == log.user
    # 2 of 4 pods were admitted
    assert (log.accelerators[deleted][0], log.requested[deleted][0]) == (2.0, 4.0)
    assert (log.end_s[deleted][0], log.state[deleted][0]) == (at(9, 0), State.CANCELLED)
    assert counts(found)[Trap.DELETED] == 1
    assert counts(found)[Trap.QUOTA_DIFFERS] == 1  # 4 of quota, 2 devices
    assert counts(found)[Trap.DEVICE_CLAIM] == 1
    assert counts(found)[Trap.NO_FINISHED] == 1


def test_snapshots_of_one_cluster_count_a_workload_once() -> None:
    once, twice = read("kueue_v1beta1.json"), read("kueue_v1beta1.json", "kueue_v1beta1.json")
    assert len(twice.log) == len(once.log)
    assert counts(twice)[Trap.DUPLICATE] == 4


@pytest.mark.parametrize("part", ['"creationTimestamp": "2025-03-01T10:00:00Z"', '"podSets"'])
def test_a_broken_object_is_named_by_its_position(part: str, tmp_path) -> None:
    text = (DATA / "kueue_v1beta1.json").read_text()
    (tmp_path / "x.json").write_text(text.replace(part, '"other": ""' if ":" in part else '"x"', 1))
    found = refused(str(tmp_path / "x.json"))
    assert found[0][1] == 1
    (tmp_path / "x.json").write_text(text[:500])
    assert "not JSON" in refused(str(tmp_path / "x.json"))[0][2]
