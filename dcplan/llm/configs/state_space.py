"""Sizes of recurrent blocks whose state is a state space or a short convolution."""

from __future__ import annotations

from dcplan.llm.config_keys import Config, linear_params, need, whole
from dcplan.llm.configs.families import MAMBA_1, family


def mamba_sizes(config: Config, hidden: int, count: int, norms: int) -> dict[str, int]:
    r"""Return number, sizes and parameters of the Mamba blocks; empty without them.

    .. math::
       N_2 = h (d_i + c + a_m) + c (k + 1) + 3 a_m + d_i + d_i h, \quad c = d_i + 2 g d_s

    for Mamba-2 with a_m heads, g groups, states of d_s values and a convolution of depth k, and

    .. math:: N_1 = 2 h d_i + d_i (k + 1) + d_i (r + 2 d_s) + r d_i + d_i + d_i d_s + d_i + d_i h

    for Mamba-1, whose step size has the rank r; Jamba norms step size, input and output state.

    Parameters
    ----------
    config : Mapping
        Keys of the text model, by :func:`dcplan.llm.configs.names.canonical`.
    hidden : int
        Width of the model.
    count : int
        Layers with a Mamba block.
    norms : int
        Parameters of the norms that belong to the block.

    Raises
    ------
    ValueError
        If a size is missing.

    References
    ----------
    .. [1] A. Gu, T. Dao, "Mamba", 2023, arXiv 2312.00752, section 3.4.
    .. [2] T. Dao, A. Gu, "Transformers are SSMs", 2024, arXiv 2405.21060, section 7.
    .. [3] Transformers 5.23, classes Mamba2Mixer, MambaMixer, JambaMambaMixer, FalconH1Mixer.

    Examples
    --------
    Mamba-2 2.7B: width 5120, 80 heads of 64, 1 group, states of 128.

    >>> mamba2 = {"model_type": "mamba2", "num_heads": 80, "head_dim": 64, "mamba_groups": 1,
    ...     "ssm_state_size": 128, "conv_kernel": 4}
    >>> sizes = mamba_sizes(mamba2, 2560, 64, 0)
    >>> sizes["mamba_inner"], sizes["mamba_params"]
    (5120, 40214000)
    """
    if not count:
        return {}
    made = _mamba_1 if family(config) in MAMBA_1 else _mamba_2
    return made(config, hidden, count, norms)


def _mamba_2(config: Config, hidden: int, count: int, norms: int) -> dict[str, int]:
    heads = whole(config, "mamba_num_heads") or int(need(config, "num_heads"))
    dim = _head_dim(config, hidden, heads)
    groups, state = int(need(config, "mamba_groups")), int(need(config, "ssm_state_size"))
    kernel, width = whole(config, "conv_kernel", 4), heads * dim
    conv = width + 2 * groups * state
    biased = bool(_first(config, "use_bias", "mamba_proj_bias", "projectors_bias"))
    inputs = linear_params(hidden, width + conv + heads, bias=biased)
    gate_norm = width if config.get("mamba_rms_norm", family(config) != "falcon_h1") else 0
    conv_bias = _first(config, "use_conv_bias", "mamba_conv_bias") is not False
    params = inputs + conv * (kernel + (1 if conv_bias else 0)) + 3 * heads + gate_norm
    return {
        "mamba_layers": count,
        "mamba_inner": width,
        "mamba_state": state,
        "mamba_groups": groups,
        "mamba_heads": heads,
        "mamba_params": params + linear_params(width, hidden, bias=biased) + norms,
        "mamba_conv": conv * (kernel - 1),
    }


def _first(config: Config, *names: str) -> object:
    return next((config[name] for name in names if config.get(name) is not None), None)


def _head_dim(config: Config, hidden: int, heads: int) -> int:
    given = config.get("mamba_head_dim")
    if isinstance(given, int):
        return given
    if family(config) == "mamba2":
        return int(need(config, "head_dim"))
    width = whole(config, "mamba_d_ssm") or int(need(config, "expand")) * hidden
    return width // heads


def _mamba_1(config: Config, hidden: int, count: int, norms: int) -> dict[str, int]:
    kind = family(config)
    width = int(need(config, "expand")) * hidden
    if kind != "jamba" and whole(config, "intermediate_size"):
        width = whole(config, "intermediate_size")
    state, kernel = int(need(config, "ssm_state_size")), whole(config, "conv_kernel", 4)
    rank = config.get("mamba_dt_rank")
    # "auto" is a sixteenth of the width (MambaConfig)
    steps = rank if isinstance(rank, int) else -(-hidden // 16)
    biased = bool(_first(config, "use_bias", "mamba_proj_bias"))
    conv_bias = _first(config, "use_conv_bias", "mamba_conv_bias") is not False
    params = linear_params(hidden, 2 * width, bias=biased) + width * (kernel + bool(conv_bias))
    params += width * (steps + 2 * state) + linear_params(steps, width)
    params += width * (state + 1) + linear_params(width, hidden, bias=biased)
    inner_norms = steps + 2 * state if kind == "jamba" else 0
    return {
        "mamba_layers": count,
        "mamba_inner": width,
        "mamba_state": state,
        "mamba_params": params + inner_norms + norms,
        "mamba_conv": width * (kernel - 1),
    }


def short_conv_sizes(config: Config, hidden: int, count: int, norms: int) -> dict[str, int]:
    r"""Return number, parameters and states of short convolution blocks (LFM2); empty without them.

    .. math:: N = 3 h^2 + k h + h^2

    for the projection to two gates and a value, the convolution of depth k, and the projection
    back.

    References
    ----------
    .. [1] Transformers 5.23, class Lfm2ShortConv.

    Examples
    --------
    >>> short_conv_sizes({"conv_L_cache": 3}, 2048, 10, 0)["linear_params"]
    16783360
    """
    if not count:
        return {}
    kernel = int(need(config, "conv_L_cache"))
    bias = hidden * 5 if config.get("conv_bias") else 0
    return {
        "linear_layers": count,
        "linear_params": 4 * hidden * hidden + kernel * hidden + bias + norms,
        "linear_state": 0,
        "linear_conv": hidden * (kernel - 1),
    }
