"""What the class of a ``model_type`` fixes, beyond the keys of its ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.llm.config_keys import Config

ENCODERS = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "modernbert", "deberta-v2"})
"""Families in which every token attends to all tokens."""
POOLED = frozenset(
    {"BertModel", "RobertaModel", "XLMRobertaModel", "BertForSequenceClassification"}
    | {"RobertaForSequenceClassification", "XLMRobertaForSequenceClassification"}
)
"""Classes with one more layer, used once per sequence: a pooler or a classifier."""
HEADLESS = frozenset(
    {"MistralModel", "Qwen2Model", "Qwen3Model", "LlamaModel"}
    | {"ModernBertModel", "DebertaV2Model"}
    | POOLED
)
"""Classes without an output layer over the vocabulary."""
MASKED = frozenset(
    {"BertForMaskedLM", "RobertaForMaskedLM", "XLMRobertaForMaskedLM", "ModernBertForMaskedLM"}
    | {"BertForPreTraining", "DebertaV2ForMaskedLM", "BertLMHeadModel"}
    | {"RobertaForCausalLM", "XLMRobertaForCausalLM"}
)
"""Classes that predict masked words: one more layer, its norm, and a bias for each word."""
BIASED = frozenset(
    {"gpt2", "gpt_neox", "opt", "bloom", "gpt_bigcode", "phi", "phimoe", "starcoder2", "whisper"}
    | {"bart", "bert", "roberta", "xlm-roberta", "camembert", "deberta-v2"}
)
"""Families with biases in all projections."""
LAYER_NORM = frozenset({*BIASED, "falcon", "stablelm", "gptj"}) - {"starcoder2", "gptj"}
"""Families whose norms have a bias."""
UNGATED = frozenset(
    {"gpt2", "gpt_neox", "opt", "bloom", "falcon", "nemotron", "nemotron_h", "phi", "gptj"}
    | {"gpt_bigcode", "starcoder2", "apertus", "arcee", "mpt", "whisper", "bart"}
    | (ENCODERS - {"modernbert"})
)
"""Families whose MLP has no gate."""
LEARNED_POSITIONS = frozenset(
    {"gpt2", "opt", "gpt_bigcode", "bert", "roberta", "xlm-roberta", "camembert", "deberta-v2"}
)
TIED = frozenset(
    {"gpt2", "opt", "bloom", "falcon", "gemma", "gemma2", "gemma3", "gpt_bigcode", "mpt"}
    | {"cohere", "cohere2", "mamba", "falcon_mamba", "lfm2", "lfm2_moe", "starcoder2"}
    | {"ernie4_5", "ernie4_5_moe", "t5", "whisper", "bart"}
    | ENCODERS
)
"""Families whose output layer is the embedding unless the file says otherwise."""
SHARED_GATE = frozenset({"qwen2_moe", "qwen3_next", "qwen3_5_moe"})
"""Families with a gate on the output of the shared expert."""
QKV_BIAS = frozenset({"qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl"})
"""Families with biases of queries, keys and values."""
QKV_BIAS_ONLY = frozenset({"glm", "glm4", "chatglm"})
"""Families whose ``attention_bias`` leaves the output projection without one."""
HEAD_NORM = frozenset(
    {"qwen3", "qwen3_moe", "gemma3", "qwen3_next", "qwen3_5", "qwen3_5_moe", "qwen3_vl"}
    | {"qwen3_vl_moe", "exaone4", "hunyuan_v1_moe", "hunyuan_v1_dense", "dots1", "lfm2"}
    | {"lfm2_moe", "apertus"}
)
"""Families with norms of the queries and keys of a head."""
WIDE_NORM = frozenset({"olmo2", "olmo3", "olmoe", "minimax_m2"})
"""Families with norms over all queries and over all keys."""
FOUR_NORMS = frozenset({"gemma2", "gemma3", "grok-1", "glm4"})
"""Families with a norm before and after both blocks of a layer."""
GATED_ATTENTION = frozenset({"qwen3_next"})
"""Families with a gate on the output of attention unless the file says otherwise."""
OPTIONAL_WINDOW = frozenset(
    {"qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "qwen3", "qwen3_moe", "dots1"}
)
"""Families that use ``sliding_window`` only with ``use_sliding_window``."""
WINDOW_PERIOD: Mapping[str, int] = {
    "gemma2": 2,
    "gpt_oss": 2,
    "llama4": 4,
    "cohere2": 4,
    "olmo3": 4,
}
"""Every so many layers, one has full attention, where the file does not say which."""
ATTENTION_FREE = frozenset({"mamba", "mamba2", "falcon_mamba"})
"""Families of state-space layers alone."""
MAMBA_HYBRIDS = frozenset(
    {"nemotron_h", "granitemoehybrid", "bamba", "jamba", "falcon_h1"} | ATTENTION_FREE
)
"""Families in which ``linear_attention`` and ``hybrid`` name layers with a state space."""
MAMBA_1 = frozenset({"mamba", "falcon_mamba", "jamba"})
"""Families with Mamba-1 blocks, whose step size is a projection of a low rank."""
PARALLEL = frozenset({"falcon_h1"})
"""Families with attention and a state space side by side in every layer."""
LIGHTNING = frozenset({"minimax", "minimax_m1", "minimax_text_01", "MiniMaxM1", "MiniMaxText01"})
"""Families whose linear layers are lightning attention."""
LLAMA_LIKE = frozenset(
    {"llama", "mistral", "mixtral", "phi3", "qwen", "internlm", "internlm2", "internlm3", "yi"}
    | {"baichuan", "aquila", "palm", "dbrx", "granite", "granitemoe", "granitemoeshared", "olmo"}
    | {"smollm3", "seed_oss", "ministral", "ministral3", "mimo", "solar", "deepseek"}
    | {"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "glm4_moe", "glm4_moe_lite"}
    | {"glm_moe_dsa", "gpt_oss", "llama4", "ernie4_5", "ernie4_5_moe", "longcat_flash"}
    | {"kimi_linear", "mimo_v2_flash", "gemma", "cohere", "cohere2", "nemotron-nas", "minicpm"}
    | {"minicpm3", "hunyuan", "bailing_moe", "xverse", "orion", "stablelm", "gptj", "mpt", "phimoe"}
)
READ_TYPES = frozenset(
    LLAMA_LIKE
    | ENCODERS
    | BIASED
    | UNGATED
    | TIED
    | QKV_BIAS
    | QKV_BIAS_ONLY
    | HEAD_NORM
    | WIDE_NORM
    | FOUR_NORMS
    | MAMBA_HYBRIDS
    | LIGHTNING
)
"""``model_type`` of the text models whose blocks this reader knows."""
REFUSED_TYPES: Mapping[str, str] = {
    "gemma3n": "per-layer embeddings and layers that share keys and values",
    "gemma4": "full layers with head sizes of their own, and layers that share keys and values",
    "gemma4_unified": "full layers with head sizes of their own",
    "deepseek_v4": "attention over compressed keys, and several residual streams",
    "kimi_k3": "attention to the outputs of earlier layers",
    "minimax_m3": "block-sparse attention",
    "zamba": "attention blocks that layers share",
    "zamba2": "attention blocks that layers share",
    "albert": "layers that share all parameters",
    "recurrent_gemma": "gated linear recurrences",
    "rwkv": "RWKV time mixing",
    "xlstm": "xLSTM blocks",
    "gpt_neo": "windows that alternate by attention_types",
    "longformer": "windows with global tokens",
    "big_bird": "block-sparse attention",
    "reformer": "hashed attention",
    "olmo_hybrid": "linear attention with convolutions of its own",
    "bailing_hybrid": "linear attention by layer groups",
    "bailing_moe_linear": "linear attention by layer groups",
    "step3p5": "window layers with another number of heads",
    "step3p7": "window layers with another number of heads",
    "step3": "multi-matrix factorized attention",
    "mllama": "layers that read another stream",
    "afmoe": "a gate on attention, and four norms a layer",
    "jetmoe": "experts of attention",
    "zaya": "attention in a compressed space",
    "blt": "an encoder of bytes",
    "diffllama": "two attention maps of each head",
    "doge": "dynamic masks of attention",
    **dict.fromkeys(
        ("codegen", "persimmon", "xglm", "biogpt", "vaultgemma", "helium", "nanochat"),
        "blocks that differ from those of Llama",
    ),
}
"""``model_type`` -> what its layers have that no reader counts."""


def family(config: Config) -> str:
    """Return the ``model_type`` of the text model, without the ending of its part.

    Examples
    --------
    >>> family({"model_type": "qwen3_5_moe_text"})
    'qwen3_5_moe'
    """
    return str(config.get("model_type") or "").removesuffix("_text")
