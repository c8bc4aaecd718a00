"""Accelerators in texts of Slurm (TRES) and in resource names of Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

PROFILE = re.compile(r"(?:^|[_.-])(\d+(?:c\.\d+)?g\.\d+gb(?:\+me(?:\.all)?|\.me)?)$")
"""A MIG profile at the end of a type, such as ``a100_1g.10gb``."""
SHARES = ("shard", "mps")
"""Generic resources of Slurm that are parts of an accelerator."""
ASKS = re.compile(
    r"--gres[= ]\S*?\bgpu\S*|--gpus(?:-per-(?:node|task|socket))?[= ]\S+|-G ?\S+"
    r"|--tres-per-\w+[= ]\S*?\bgpu\S*"
)
"""An option that asks for accelerators, with its value."""
ASKS_NONE = re.compile(r"(?:[:= ]|-G)0$")
FLAGS = frozenset(
    (
        *("--exclusive", "--wait", "-W", "--hold", "-H", "--parsable", "--quiet", "-Q", "-v"),
        *("--requeue", "--no-requeue", "--contiguous", "--overcommit", "-O", "--verbose", "-s"),
        *("--spread-job", "--use-min-nodes", "--test-only", "--no-kill", "-k", "--reboot", "-l"),
        *("--oversubscribe", "--pty", "--label", "--unbuffered", "-u", "--disable-status", "-X"),
        *("--multi-prog", "--overlap", "--exact", "--no-allocate", "-Z", "--preserve-env", "-E"),
        *("--ignore-pbs", "--stepmgr", "--no-shell", "--immediate", "-I", "--nice", "--parallel"),
    )
)
"""Options of ``sbatch``, ``srun`` and ``salloc`` after which no value follows."""
DEVICE = re.compile(
    r"[a-z0-9.-]+/(?:gpu|tpu|gaudi|neuron|neuroncore|neurondevice|i915|xe|npu|mlu|dcu|vgpu)"
)
"""Resource names of whole accelerators in Kubernetes."""
MIG_NAME = re.compile(r"[a-z0-9.-]+/mig-(.+)")
SHARED = "gpu.shared"
"""Name of time-sliced accelerators, after the slash."""


@dataclass(frozen=True)
class Count:
    """Accelerators that a run asks for or holds."""

    whole: float = 0.0
    shares: float = 0.0
    """Sum of the shares of partitions."""
    unknown: float = 0.0
    """Partitions whose share is unknown."""
    names: tuple[str, ...] = ()
    """Names of partitions whose share is unknown."""

    @property
    def total(self) -> float:
        """Accelerators, without partitions of unknown share."""
        return self.whole + self.shares

    def plus(self, other: Count, times: float) -> Count:
        """Return the sum with a multiple of another count."""
        return Count(
            self.whole + times * other.whole,
            self.shares + times * other.shares,
            self.unknown + times * other.unknown,
            (*self.names, *other.names),
        )


class Shares(dict[str, float]):
    """Shares of an accelerator by the name of a partition, as given; keeps which of them a log has."""

    def __init__(self, given: Mapping[str, float]) -> None:
        super().__init__(given)
        self._met: set[str] = set()

    def __getitem__(self, name: str) -> float:
        """Return a share, and keep that it was asked for."""
        self._met.add(name)
        return super().__getitem__(name)

    @property
    def unmet(self) -> tuple[str, ...]:
        """Names that no log has, as given."""
        return tuple(name for name in self if name not in self._met)


def share_of(name: str, fractions: Mapping[str, float]) -> float | None:
    """Return the share of an accelerator that a partition is; None: unknown."""
    match = PROFILE.search(name)
    for key in (name, match[1] if match else name):
        if key in fractions:
            return fractions[key]
    return None


def _split(partitions: Iterable[tuple[str, float]], fractions: Mapping[str, float]) -> Count:
    shares, unknown, names = 0.0, 0.0, []
    for name, n in partitions:
        share = share_of(name, fractions)
        if share is None and n:
            unknown += n
            names.append(name)
        elif share is not None:
            shares += n * share
    return Count(0.0, shares, unknown, tuple(names))


def tres(text: str, fractions: Mapping[str, float]) -> Count:
    """Return the accelerators of a TRES text.

    The untyped entry is the total of the typed ones, so they are not added. Partitions (MIG
    profiles, shards) count by their shares.

    Raises
    ------
    ValueError
        When an entry of accelerators has no number.

    Examples
    --------
    >>> tres("cpu=8,gres/gpu=4,gres/gpu:a100=4,node=1", {}).total
    4.0
    >>> tres("gres/gpu=3,gres/gpu:a100=1,gres/gpu:1g.10gb=2", {"1g.10gb": 1 / 7}).total
    1.2857142857142856
    >>> tres("gres/shard=2", {}).unknown
    2.0
    """
    untyped: float | None = None
    typed: dict[str, float] = {}
    shares: list[tuple[str, float]] = []
    for entry in text.split(","):
        name, equals, amount = entry.strip().partition("=")
        kind, _, which = name.partition(":")
        if kind not in ("gres/gpu", *(f"gres/{s}" for s in SHARES)):
            continue
        try:
            n = float(amount) if equals else -1.0
        except ValueError:
            n = -1.0
        if not 0.0 <= n < 1e7:
            msg = f"{entry!r} has no number of accelerators"
            raise ValueError(msg)
        if kind != "gres/gpu":
            shares.append((kind.removeprefix("gres/"), n))
        elif which:
            typed[which] = n
        else:
            untyped = n
    migs = [(name, n) for name, n in typed.items() if PROFILE.search(name)]
    listed = sum(typed.values())
    total = max(untyped, listed) if untyped is not None else listed
    parts = _split([*migs, *shares], fractions)
    return Count(total - sum(n for _, n in migs), parts.shares, parts.unknown, parts.names)


def asks_for_accelerators(command: str) -> bool:
    """Return whether the options of a submission ask for accelerators; arguments of a script do not.

    Examples
    --------
    >>> asks_for_accelerators("sbatch --gres=gpu:2 x.sh"), asks_for_accelerators("srun -G 0 x")
    (True, False)
    >>> asks_for_accelerators("sbatch --exclusive -p cpu x.sh --gpus 4")
    False
    """
    return any(ASKS.fullmatch(o) and not ASKS_NONE.search(o) for o in _options(command.split()))


def _options(words: Sequence[str]) -> Iterator[str]:
    """Yield each option with its value, up to the script; a colon begins the next component."""
    i = 1
    while i < len(words):
        word = words[i]
        attached = "=" in word or (len(word) > 2 and not word.startswith("--"))
        if word == ":":
            i += 1
        elif not word.startswith("-"):
            following = [k for k in range(i, len(words)) if words[k] == ":"]
            if not following:
                return
            i = following[0]
        elif attached or word in FLAGS or i + 1 == len(words):
            yield word
            i += 1
        else:
            yield f"{word} {words[i + 1]}"
            i += 2


def resources(amounts: Mapping[str, float], fractions: Mapping[str, float]) -> Count:
    """Return the accelerators of resource requests in Kubernetes.

    Examples
    --------
    >>> resources({"nvidia.com/gpu": 8, "cpu": 4}, {}).total
    8.0
    >>> resources({"nvidia.com/mig-1g.10gb": 2}, {"1g.10gb": 0.125}).total
    0.25
    """
    whole = sum(n for name, n in amounts.items() if DEVICE.fullmatch(name))
    partitions = [
        (match[1], n) for name, n in amounts.items() if (match := MIG_NAME.fullmatch(name))
    ]
    partitions += [(SHARED, n) for name, n in amounts.items() if name.rpartition("/")[2] == SHARED]
    parts = _split(partitions, fractions)
    return Count(whole, parts.shares, parts.unknown, parts.names)


def names_accelerators(name: str) -> bool:
    """Return whether a resource of Kubernetes is an accelerator or a part of one."""
    return bool(
        DEVICE.fullmatch(name) or MIG_NAME.fullmatch(name) or name.rpartition("/")[2] == SHARED
    )
