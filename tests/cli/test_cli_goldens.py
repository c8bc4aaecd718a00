"""What a user sees, word for word: help of every verb, one catalog row, `check` and `plan` of the main example."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.cli.conftest import Ran

VERBS = [
    "", "plan", "check", "train", "fabric", "validate", "calibrate", "show", "export", "schema", "doctor", "catalog",
    "catalog list", "catalog show", "catalog check",
]  # fmt: skip


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
def test_main_example_text(here: Callable[..., Ran], golden: Callable[[str, str], None], verb: str) -> None:
    ran = here(verb, "train-405b-in-90-days")
    assert ran.code == 0, ran.err
    golden(f"cli/{verb}-train-405b-in-90-days.txt", plain(f"{ran.out}--- stderr ---\n{ran.err}"))


def test_fabric_text(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    ran = here(
        "fabric", "--nodes", "127", "--nics-per-node", "8", "--nic-gbps", "400", "--switch", "qm9700",
        "--nodes-per-su", "32", "--management-links", "4",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    golden("cli/fabric-superpod-h100.txt", plain(f"{ran.out}--- stderr ---\n{ran.err}"))


def test_fabric_refuses_with_exit_2(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    ran = here("fabric", "--nodes", "127", "--nics-per-node", "8", "--nic-gbps", "800", "--switch", "qm9700")
    assert ran.code == 2
    golden("cli/fabric-no-such-port.txt", ran.err)


TYPED = "tp=4,pp=4,vpp=5,cp=2,mbs=1"
TRAIN = ("llama-3.1-70b", "--system", "dgx-h100", "--accelerators", "1024", "--tokens", "1e12")


def test_train_of_one_layout_text(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    ran = here("train", *TRAIN, "--global-batch-tokens", "8388608", "--layout", TYPED)
    assert ran.code == 0, ran.err
    text = re.sub(r"^search\.seconds.*$", "search.seconds", ran.out, flags=re.MULTILINE)
    golden("cli/train-llama-3.1-70b-layout.txt", plain(f"{text}--- stderr ---\n{ran.err}"))
