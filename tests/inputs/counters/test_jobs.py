"""Which job held an accelerator: by id, by node and time, and where nobody can know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dcplan.inputs.counters.findings import Notes, Oddity
from dcplan.inputs.counters.jobs import Held, How, held
from dcplan.inputs.counters.nodes import expanded
from dcplan.inputs.counters.read import read_counters
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.read import read_jobs

SACCT = "JobID|JobIDRaw|Partition|User|State|Submit|Start|End|NNodes|NodeList|ReqTRES|AllocTRES\n"


def job(number: int, user: str, start: int, end: int, nodes: str, n: int, gpus: int) -> str:
    tres = f"gres/gpu={gpus}"
    return (
        f"{number}|{number}|p-{user}|{user}|COMPLETED|0|{start}|{end}|{n}|{nodes}|{tres}|{tres}\n"
    )


def joined(tmp_path: Path, jobs: str, samples: str) -> tuple[Held, list[str], Notes]:
    log_file, sample_file = tmp_path / "jobs.txt", tmp_path / "samples.csv"
    log_file.write_text(SACCT + jobs, encoding="utf-8")
    sample_file.write_text(samples, encoding="utf-8")
    log = read_jobs([log_file], LogOptions()).log
    read = read_counters([sample_file], LogOptions())
    found = held(read.samples, log, read.notes)
    users = [log.users[log.user[i]] if i >= 0 else "-" for i in found.run.tolist()]
    return found, users, read.notes


def node_samples(node: str, gpus: int, times: tuple[int, ...]) -> str:
    return "".join(f"{t},{node},{g},0.5\n" for t in times for g in range(gpus))


HEAD = "time,Hostname,gpu,SM_ACTIVE\n"


def test_by_node_and_time(tmp_path: Path) -> None:
    """A whole node is held from 100 to before 200 s; before and after it is free."""
    jobs = job(7, "ada", 100, 200, "n[01-02]", 2, 4)
    samples = HEAD + node_samples("N01.dc:9400", 2, (50, 100, 199, 200))
    found, users, _ = joined(tmp_path, jobs, samples)
    assert found.how is How.NODE
    assert found.allocated.tolist() == [0.0, 1.0, 1.0, 0.0] * 2
    assert users == ["-", "ada", "ada", "-"] * 2


def test_a_part_of_a_node_is_neither_allocated_nor_free(tmp_path: Path) -> None:
    """One job holds 1 of 2: unknown which. Two jobs hold both: allocated, by several jobs."""
    jobs = job(7, "ada", 0, 300, "n1", 1, 1) + job(8, "bob", 200, 300, "n1", 1, 1)
    found, users, notes = joined(tmp_path, jobs, HEAD + node_samples("n1", 2, (100, 250)))
    assert np.isnan(found.allocated[[0, 2]]).all()
    assert found.allocated[[1, 3]].tolist() == [1.0, 1.0]
    assert set(users) == {"-"}
    assert {n.kind: n.count for n in notes.findings()}[Oddity.UNCLEAR] == 2


def test_a_run_without_nodes_makes_free_accelerators_unknown(tmp_path: Path) -> None:
    jobs = job(7, "ada", 0, 100, "n1", 1, 2) + job(8, "bob", 200, 300, "", 1, 2)
    found, _, notes = joined(tmp_path, jobs, HEAD + node_samples("n1", 2, (50, 150, 250)))
    assert found.allocated[:2].tolist() == [1.0, 0.0]
    assert np.isnan(found.allocated[2])
    assert {n.kind: n.count for n in notes.findings()}[Oddity.UNPLACED] == 1


def test_by_the_id_of_the_job(tmp_path: Path) -> None:
    """The label decides what is allocated; the log has queue and user of the job that it knows."""
    jobs = job(7, "ada", 0, 100, "n1", 1, 1)
    samples = "time,UUID,hpc_job,SM_ACTIVE\n0,G1,7,0.5\n60,G1,,0\n0,G2,99,0.5\n"
    found, users, notes = joined(tmp_path, jobs, samples)
    assert found.how is How.LABEL
    assert found.allocated.tolist() == [1.0, 0.0, 1.0]
    assert users == ["ada", "-", "-"]
    unknown = next(n for n in notes.findings() if n.kind is Oddity.JOB_UNKNOWN)
    assert (unknown.count, unknown.place.line) == (1, 4)


def test_a_file_without_a_column_for_jobs_says_nothing_of_them(tmp_path: Path) -> None:
    """One file names jobs, the other cannot: its accelerators are neither allocated nor free."""
    named, other = tmp_path / "a.csv", tmp_path / "b.csv"
    named.write_text("time,UUID,hpc_job,SM_ACTIVE\n0,G1,7,0.5\n60,G1,,0\n", encoding="utf-8")
    other.write_text("time,UUID,SM_ACTIVE\n0,G2,0.5\n60,G2,0.5\n", encoding="utf-8")
    read = read_counters([named, other], LogOptions())
    found = held(read.samples, None, read.notes).allocated.tolist()
    assert found[:2] == [1.0, 0.0]
    assert np.isnan(found[2:]).all()


def test_a_requeued_job_has_the_run_of_the_time(tmp_path: Path) -> None:
    first = "7|7|a|ada|PREEMPTED|0|0|100|1|n1|gres/gpu=1|gres/gpu=1\n"
    second = "7|7|b|ada|COMPLETED|100|200|300|1|n2|gres/gpu=1|gres/gpu=1\n"
    samples = "time,UUID,hpc_job,SM_ACTIVE\n50,G1,7,0.5\n250,G1,7,0.5\n"
    found, _, _ = joined(tmp_path, first + second, samples)
    assert found.run.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("jobs", "samples", "why"),
    [
        (job(7, "a", 0, 9, "", 1, 1), HEAD + node_samples("n1", 1, (0, 5)), "does not name the nodes"),
        (job(7, "a", 0, 9, "x1", 1, 1), HEAD + node_samples("n1", 1, (0, 5)), "names differ"),
        (
            job(7, "a", 0, 9, "n1", 1, 1),
            "time,UUID,SM_ACTIVE\n0,G,0.5\n5,G,0.5\n",
            "neither a job nor a node",
        ),
    ],
)  # fmt: skip
def test_samples_that_cannot_be_separated(
    tmp_path: Path, jobs: str, samples: str, why: str
) -> None:
    found, _, _ = joined(tmp_path, jobs, samples)
    assert found.how is How.NOT
    assert why in found.why_not
    assert np.isnan(found.allocated).all()


def test_nodes_of_het_jobs_are_joined(tmp_path: Path) -> None:
    jobs = job(7, "ada", 0, 100, "n1", 1, 1).replace("7|7", "7+0|7", 1)
    jobs += job(8, "ada", 0, 100, "n2", 1, 1).replace("8|8", "7+1|8", 1)
    samples = HEAD + node_samples("n1", 1, (0, 50)) + node_samples("n2", 1, (0, 50))
    found, users, _ = joined(tmp_path, jobs, samples)
    assert found.allocated.tolist() == [1.0] * 4
    assert users == ["ada"] * 4


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("n1", ("n1",)),
        ("n[1-3,5]x", ("n1x", "n2x", "n3x", "n5x")),
        ("r[1-2]n[09-10]", ("r1n09", "r1n10", "r2n09", "r2n10")),
        ("a,b[1-2],c", ("a", "b1", "b2", "c")),
        ("", ()),
    ],
)
def test_lists_of_nodes(text: str, nodes: tuple[str, ...]) -> None:
    assert expanded(text) == nodes
