"""Accelerators in texts of Slurm (TRES) and in resource names of Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

PROFILE = re.compile(r"(?:^|[_.-])(\d+(?:c\.\d+)?g\.\d+gb(?:\+me(?:\.all)?|\.me)?)$")
"""A MIG profile at the end of a type, such as ``a100_1g.10gb``."""
SHARES = ("shard", "mps")
"""Generic resources of Slurm that are parts of an accelerator."""
DEVICES = ("gpu", "npu", "mlu", "dcu", "tpu", "gaudi", "hpu")
"""Generic resources of Slurm that are accelerators."""
NO_DEVICES = frozenset(
    (
        *("gpumem", "gpuutil", "nic", "craynetwork", "tmpdisk", "tmpfs", "tmp", "scratch"),
        *("localtmp", "lscratch", "localscratch", "nvme", "ssd", "disk", "license", "licenses"),
    )
)
"""Generic resources that are no accelerators: storage, network, licenses, and use of accelerators."""
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
NETWORK = re.compile(
    r"^(?:rdma|smarter-devices|devices\.kubevirt\.io|requests|limits)/|hugepages|/(?:efa|roce|hca|hostdev|sriov)"
    r"|netdevice|sriov|/qat|/fuse|/kvm",
    re.IGNORECASE,
)
"""Resources of Kubernetes for networks, storage and devices of a host that are no accelerators."""
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
    others: tuple[str, ...] = ()
    """Names of resources that may be accelerators under a name that is not known."""

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
            (*self.others, *other.others),
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
    profiles, shards) count by their shares, and so does a resource of another name that has a share.

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
    >>> tres("gres/vpu=2,gres/nvme=1", {}).others, tres("gres/vpu=2", {"vpu": 1.0}).total
    (('vpu',), 2.0)
    """
    found = Count()
    for kind, (untyped, typed) in _entries(text, {*DEVICES, *SHARES, *fractions}).items():
        migs = [(name, n) for name, n in typed.items() if PROFILE.search(name)]
        listed = sum(typed.values())
        total = max(untyped, listed) if untyped is not None else listed
        if kind in DEVICES:
            whole = Count(total - sum(n for _, n in migs))
            found = found.plus(whole, 1.0).plus(_split(migs, fractions), 1.0)
        elif kind in SHARES or kind in fractions:
            found = found.plus(_split([(kind, total)], fractions), 1.0)
        elif total and kind not in NO_DEVICES:
            found = found.plus(Count(others=(kind,)), 1.0)
    return found


def _entries(text: str, counted: Set[str]) -> dict[str, tuple[float | None, dict[str, float]]]:
    """Return the generic resources of a TRES text: the untyped number and those of each type.

    Raises
    ------
    ValueError
        When an entry that is ``counted`` has no number.
    """
    found: dict[str, tuple[float | None, dict[str, float]]] = {}
    for entry in text.split(","):
        name, equals, amount = entry.strip().partition("=")
        kind, _, which = name.removeprefix("gres/").partition(":")
        if not name.startswith("gres/") or kind in NO_DEVICES:
            continue
        try:
            n = float(amount) if equals else -1.0
        except ValueError:
            n = -1.0
        if not 0.0 <= n < 1e7:
            if kind in counted:
                msg = f"{entry!r} has no number of accelerators"
                raise ValueError(msg)
            n = 1.0  # a size, such as 10G
        untyped, typed = found.get(kind, (None, {}))
        found[kind] = (untyped, {**typed, which: n}) if which else (n, typed)
    return found


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
    >>> resources({"huawei.com/Ascend910": 8}, {}).others
    ('huawei.com/Ascend910',)
    """
    whole = sum(n for name, n in amounts.items() if DEVICE.fullmatch(name))
    partitions = [
        (match[1], n) for name, n in amounts.items() if (match := MIG_NAME.fullmatch(name))
    ]
    partitions += [(SHARED, n) for name, n in amounts.items() if name.rpartition("/")[2] == SHARED]
    unnamed = [(name, n) for name, n in amounts.items() if n and may_be_accelerator(name)]
    partitions += [(name, n) for name, n in unnamed if share_of(name, fractions) is not None]
    parts = _split(partitions, fractions)
    others = tuple(name for name, _ in unnamed if share_of(name, fractions) is None)
    return Count(whole, parts.shares, parts.unknown, parts.names, others)


def names_accelerators(name: str) -> bool:
    """Return whether a resource of Kubernetes is an accelerator or a part of one."""
    return bool(
        DEVICE.fullmatch(name) or MIG_NAME.fullmatch(name) or name.rpartition("/")[2] == SHARED
    )


def may_be_accelerator(name: str) -> bool:
    """Return whether a resource of Kubernetes is a device of a name that is not known.

    Examples
    --------
    >>> names = ("huawei.com/Ascend910", "cpu", "nvidia.com/gpu", "rdma/hca_shared_devices_a")
    >>> [may_be_accelerator(name) for name in names]
    [True, False, False, False]
    """
    return "/" in name and not names_accelerators(name) and NETWORK.search(name) is None
