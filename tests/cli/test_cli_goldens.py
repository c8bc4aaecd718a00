"""What a user sees, word for word: help of every verb, one catalog row, `check` and `plan` of the
main example."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.cli.conftest import Ran

VERBS = [
    "",
    "plan",
    "check",
    "train",
    "serve",
    "fabric",
    "facility",
    "validate",
    "calibrate",
    "show",
    "report",
    "export",
    "schema",
    "doctor",
    "catalog",
    "catalog list",
    "catalog show",
    "catalog check",
    "tco",
    "import",
    "explain",
    "frontier",
    "diff",
    "test",
    "sweep",
    "init",
]


def plain(text: str) -> str:
    """Seconds and the name of the program differ from run to run; nothing else may."""
    text = re.sub(r"^Usage: .*?dcplan", "Usage: dcplan", text, flags=re.MULTILINE)
    return re.sub(r"\b\d+(\.\d+)? s\b", "N s", text)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb or "dcplan")
def test_help_text(here: Callable[..., Ran], golden: Callable[[str, str], None], verb: str) -> None:
    ran = here(*verb.split(), "--help")
    assert ran.code == 0
    name = verb.replace(" ", "-") or "dcplan"
    golden(f"cli/help-{name}.txt", plain(ran.out))


def test_catalog_show_text(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    golden("cli/catalog-show-dgx-h100.txt", here("catalog", "show", "dgx-h100").out)


@pytest.mark.parametrize("verb", ["check", "plan"])
def test_main_example_text(
    here: Callable[..., Ran], golden: Callable[[str, str], None], verb: str
) -> None:
    ran = here(verb, "train-405b-in-90-days")
    assert ran.code == 0, ran.err
    golden(f"cli/{verb}-train-405b-in-90-days.txt", plain(f"{ran.out}--- stderr ---\n{ran.err}"))


def test_fabric_text(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    ran = here(
        "fabric",
        "--nodes",
        "127",
        "--nics-per-node",
        "8",
        "--nic-gbps",
        "400",
        "--switch",
        "qm9700",
        "--nodes-per-su",
        "32",
        "--management-links",
        "4",
    )
    assert ran.code == 0, ran.err
    golden("cli/fabric-superpod-h100.txt", plain(f"{ran.out}--- stderr ---\n{ran.err}"))


def test_fabric_refuses_with_exit_2(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    ran = here(
        "fabric",
        "--nodes",
        "127",
        "--nics-per-node",
        "8",
        "--nic-gbps",
        "800",
        "--switch",
        "qm9700",
    )
    assert ran.code == 2
    golden("cli/fabric-no-such-port.txt", ran.err)


POD = ("fabric", "--nodes", "40", "--system", "dgx-h100", "--fabric", "ib-ndr-400")


def test_fabric_beyond_reach_exits_2(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    flags = (
        "--nics-per-node",
        "8",
        "--nic-gbps",
        "1600",
        "--fabric",
        "eth-1600",
        "--cable-length-m",
        "3000",
    )
    ran = here("fabric", "--nodes", "72", *flags)
    assert ran.code == 2
    golden("cli/fabric-out-of-reach.txt", ran.err)


def test_fabric_side_by_side_text(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    ran = here(
        "fabric",
        "--nodes",
        "16",
        "--system",
        "gb300-nvl72",
        "--compare",
        "ib-xdr-800,spectrum-x-800,eth-400",
    )
    assert ran.code == 0, ran.err
    golden("cli/fabric-compare.txt", plain(ran.out))


def test_fabric_cables_on_stdout_alone(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    ran = here(*POD, "--cables", "-")
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines(keepends=True)
    # 40 nodes x 8 rails, two units of 8 leaves with 32 uplinks
    assert len(lines) == 1 + 320 + 16 * 32
    golden("cli/fabric-cables.txt", "".join(lines[:4] + lines[-2:]))


def test_fabric_to_netbox(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    ran = here(*POD, "-f", "json", "-o", "pod.json", "--picture", "pod.svg", "--cables", "pod.csv")
    assert ran.code == 0, ran.err
    ran = here("export", "pod.json", "--to", "netbox", "-o", "netbox")
    assert ran.code == 0, ran.err
    golden("cli/fabric-netbox.txt", ran.out)
    ran = here("check", "train-405b-in-90-days", "-f", "json", "-o", "plan.json")
    assert ran.code == 0, ran.err
    ran = here("export", "plan.json", "--to", "netbox")
    assert ran.code == 2
    golden("cli/export-netbox-of-a-check.txt", ran.err)


def test_facility_text(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    ran = here(
        "facility",
        "--site",
        "us-ashburn",
        "--cooling",
        "direct-liquid-tower",
        "--system",
        "gb300-nvl72",
    )
    assert ran.code == 0, ran.err
    golden("cli/facility-ashburn.txt", plain(ran.out))


def test_facility_refuses_what_does_not_fit(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    ran = here(
        "facility", "--site", "us-dallas", "--cooling", "air-chiller", "--system", "gb300-nvl72"
    )
    assert ran.code == 2
    golden("cli/facility-nvl72-in-air.txt", ran.err)


TYPED = "tp=4,pp=4,vpp=5,cp=2,mbs=1"
TRAIN = ("llama-3.1-70b", "--system", "dgx-h100", "--accelerators", "1024", "--tokens", "1e12")


def test_train_of_one_layout_text(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    ran = here("train", *TRAIN, "--global-batch-tokens", "8388608", "--layout", TYPED)
    assert ran.code == 0, ran.err
    text = re.sub(r"^train\.search_s.*$", "train.search_s", ran.out, flags=re.MULTILINE)
    golden("cli/train-llama-3.1-70b-layout.txt", plain(f"{text}--- stderr ---\n{ran.err}"))


def test_serve_refuses_every_wrong_name_at_once(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    asked = ("llama-3.1-70bb", "--system", "dgx-h10", "--engine", "vlm", "--precision", "fp9")
    ran = here("serve", *asked, "--isl", "8192", "--speculative", "tokens=3")
    assert ran.code == 2
    golden("cli/serve-wrong-names.txt", ran.err)


def test_serve_of_an_image_model_text(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    """Figures follow fitted constants: only their words are compared."""
    ran = here("serve", "flux.1-dev", "--system", "dgx-h100", "--rate", "2", "--latency-ms", "9000")
    assert ran.code == 0, ran.err
    number = r"(?<![\w.-])\d+([.,]\d+)*( [kM](?= ))?"
    text = re.sub(number, "N", plain(f"{ran.out}--- stderr ---\n{ran.err}"))
    golden("cli/serve-flux.1-dev.txt", re.sub(" {2,}", "  ", text))


def test_serve_of_an_image_model_refuses_flags_of_text(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    ran = here("serve", "flux.1-dev", "--system", "dgx-h100", "--isl", "8", "--tpot-ms", "9")
    assert ran.code == 2
    golden("cli/serve-flux.1-dev-flags.txt", ran.err)


def test_post_training_text(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    work = (
        "algorithm=grpo,prompts=512,samples=16,isl=512,osl=4096,steps=1000,longest-osl=16384,"
        "staleness=2"
    )
    ran = here("train", "llama-3.1-8b", "--system", "dgx-h100", "-n", "64", "--post-training", work)
    assert ran.code == 0, ran.err
    golden("cli/train-post-training.txt", plain(f"{ran.out}--- stderr ---\n{ran.err}"))
