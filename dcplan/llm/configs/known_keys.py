"""Keys of a ``config.json`` that no reader needs: without effect on cost, or refused."""

from __future__ import annotations

from collections.abc import Mapping

NO_EFFECT: Mapping[str, str] = {
    "positions: the same operations whatever the angles": """
        rope_theta rope_scaling rope_parameters rope_interleave rope_type rope_ratio rope_local_base_freq
        rope_emb_base rotary_dim rotary_pct rotary_emb_base rotary_emb_interleaved partial_rotary_factor
        swa_rope_theta compress_rope_theta indexer_rope_interleave original_max_position_embeddings
        initial_context_length model_max_length max_seq_len seq_length n_ctx alibi position_embedding_type
        no_rope_layers no_rope_layer_interval use_mrope mrope_section mla_use_nope attention_rope
        relative_attention max_relative_positions relative_attention_max_distance original_rope
        position_interpolation use_dynamic_ntk use_logn_attn use_fused_rope
        """,
    "scales and limits of values: one operation of each value": """
        attention_multiplier attention_in_multiplier attention_out_multiplier attn_output_multiplier
        embedding_multiplier residual_multiplier logits_scaling logit_scale lm_head_multiplier
        key_multiplier mlp_multipliers ssm_multipliers ssm_in_multiplier ssm_out_multiplier scale_emb
        scale_depth dim_model_base mup_enabled mup_width_scale embedding_scale attention_value_scale attn_scale
        floor_scale attn_temperature_tuning query_pre_attn_scalar attn_logit_softcapping
        final_logit_softcapping clip_qkv swiglu_alpha swiglu_limit activation_situ_beta
        activation_situ_linear_beta scale_attn_weights scale_attn_by_inverse_layer_idx scale_decoder_outputs
        scale_embedding full_attn_alpha_factor full_attn_beta_factor linear_attn_alpha_factor
        linear_attn_beta_factor mlp_alpha_factor mlp_beta_factor layernorm_full_attention_alpha
        layernorm_full_attention_beta layernorm_linear_attention_alpha layernorm_linear_attention_beta
        layernorm_mlp_alpha layernorm_mlp_beta router_attn_scale multiplier_scale use_gemma_norm
        mla_scale_q_lora mla_scale_kv_lora output_gate_type softmax_scale_factor
        """,
    "kind and place of norms and activations: below 0.01 % of the weights": """
        rms_norm layer_norm_elementwise_affine do_layer_norm_before _remove_final_layer_norm norm_bias
        norm_type qk_norm_type qk_layernorm apply_residual_connection_post_layernorm use_parallel_residual
        parallel_attn num_ln_in_parallel_attn mamba_norm_before_gate mamba_hidden_act dense_act_fn
        is_gated_act postnorm use_post_norm use_deep_norm num_layers_for_deep_norm latent_moe_use_norm
        norm_before_gate multimodal_norm normalization_function activation residual_norm
        hidden_act_param add_bias_linear
        """,
    "biases of less than 0.1 % of the weights": """
        bias enable_bias no_bias lm_head_bias decoder_bias classifier_bias add_full_attention_sink_bias
        add_swa_attention_sink_bias use_expert_bias use_routing_bias use_moe_router_bias attention_sink_bias
        """,
    "choice of experts: the same number of experts for each token": """
        norm_topk_prob scoring_func score_function topk_method seq_aux routed_scaling_factor route_scale
        route_norm moe_router_scaling_factor moe_router_activation_func moe_renormalize use_grouped_topk
        moe_norm_min router_z_loss_coef moe_router_dtype moe_router_topk_scaling_factor
        moe_shared_expert_overlap shared_moe_mode zero_expert_type moe_gate moe_use_aux_free
        moe_router_enable_expert_bias router_dtype moe_group_experts moe_layer_norm moe_drop_tokens
        moe_random_routing_dropped_token norm_topk_prob_eps
        """,
    "training only: initial values, losses, dropped values": """
        initializer_range initializer_factor initializer_cutoff_factor init_std init_device init_method
        aux_loss_alpha router_aux_loss_coef aux_loss_coef z_loss_coefficient router_jitter_noise
        input_jitter_noise output_router_logits rescale_prenorm_residual time_step_floor time_step_limit
        time_step_max time_step_min time_step_scale time_step_init_scheme layerdrop encoder_layerdrop
        decoder_layerdrop dropout activation_dropout attn_pdrop embd_pdrop emb_pdrop resid_pdrop
        summary_first_dropout mask_time_prob mask_time_length mask_time_min_masks mask_feature_prob
        mask_feature_length mask_feature_min_masks apply_spec_augment ep_size pretraining_tp
        gradient_checkpointing num_reward_heads max_sequence_length_training
        """,
    "software: how the library runs or prints": """
        use_cache torch_dtype dtype torchscript transformers_version auto_map tokenizer_class
        _name_or_path architectures problem_type id2label label2id num_labels return_dict
        output_attentions output_hidden_states finetuning_task prefix task_specific_params
        use_bfloat16 tf_legacy_loss chunk_size_feed_forward _attn_implementation use_flash_attn
        use_mamba_kernels use_mambapy use_associative_scan residual_in_fp32 mamba_ssm_dtype
        mamba_ssm_cache_dtype mamba_chunk_size chunk_size block_size attention_softmax_in_fp32
        scale_attention_softmax_in_fp32 reorder_and_upcast_attn slow_but_exact deterministic_flash_attn
        sparse_prediction sparse_pred_ignore_index num_logits_to_keep legacy ignore_index
        unsloth_version unsloth_fixed _commit_hash use_mem_eff_path model_max_len
        linear_a_log_min linear_a_log_max linear_dt_min linear_dt_max linear_dt_init_floor
        language_model_only is_llama_config kv_cache_scheme cache_implementation fp32_residual
        """,
    "format of the weights: --precision says it": """
        quantization_config compression_config expert_dtype quantization
        """,
    "generated text: sampling and its limits": """
        do_sample temperature top_k top_p typical_p num_beams num_beam_groups num_return_sequences
        length_penalty repetition_penalty diversity_penalty no_repeat_ngram_size
        encoder_no_repeat_ngram_size bad_words_ids early_stopping max_length min_length
        remove_invalid_values return_dict_in_generate output_scores exponential_decay_length_penalty
        suppress_tokens begin_suppress_tokens forced_decoder_ids forced_bos_token_id
        forced_eos_token_id median_filter_width generation_config max_new_tokens
        """,
    "heads that are used once for a sequence": """
        classifier_dropout classifier_activation classifier_pooling classifier_proj_size
        use_weighted_layer_sum summary_activation summary_proj_to_labels summary_type summary_use_proj
        pooler_dropout pooler_hidden_act pooler_hidden_size pooler_type num_key_value_groups
        """,
    "draft layers: num_nextn_predict_layers counts them": """
        num_mtp_modules mtp_transformer_layers use_mtp mtp_use_dedicated_embeddings
        mtp_hybrid_override_pattern mtp_layers_block_type index_share_for_mtp_iteration
        mtp_loss_weight mtp_replicate_modules mtp_disable_norm
        """,
    "stated again by other keys that are read": """
        qk_head_dim sliding_window_size index_skip_topk_offset index_topk_pattern cla_share_factor use_mixed_mlp_moe
        layer_types_pattern is_encoder_decoder tie_encoder_decoder
        num_attention_heads_per_layer_total
        """,
    "other parts of the model: images and sound, as far as a reader counts them": """
        vision_config audio_config mm_tokens_per_image mm_vision_tower mm_projector_type
        vision_feature_layer vision_feature_select_strategy vision_soft_tokens_per_image
        projector_hidden_act projector_hidden_size multimodal_projector_bias downsample_ratio
        image_seq_length image_grid_pinpoints image_placeholder video_placeholder image_size
        img_token_compression_config process_image_mode use_unified_vision_chunk select_layer
        dynamic_image_size force_image_size max_dynamic_patch min_dynamic_patch ps_version template
        use_thumbnail use_backbone_lora use_llm_lora pad2square spatial_merge_size tie_vision
        understand_projector_stride projector_bias image_newline
        """,
}
"""Reason -> keys that change neither parameters, operations nor bytes of a text model."""
NO_EFFECT_ENDS = (
    "_token_id",
    "_token_ids",
    "_token_index",
    "_dropout",
    "_dropout_prob",
    "dropout_rate",
    "_prob",
    "dropout_p",
    "_eps",
    "_epsilon",
)
"""Endings of keys without effect: words of the vocabulary, dropped values, small numbers of norms."""
NO_EFFECT_KEYS = frozenset(key for keys in NO_EFFECT.values() for key in keys.split())
REFUSED: Mapping[str, str] = {
    "cross_attention_layers": "layers that read another stream (Llama 3.2 Vision)",
    "add_cross_attention": "cross attention",
    "cross_attention_hidden_size": "cross attention",
    "attn_res_block_size": "attention to the outputs of earlier layers (Kimi K3)",
    "routed_expert_hidden_size": "experts of another width, with norms (Kimi K3)",
    "mla_use_output_gate": "a gate on the output of latent attention",
    "attention_output_gate": "a gate on the output of attention",
    "compress_ratios": "attention over compressed keys (DeepSeek-V4)",
    "hc_mult": "several residual streams (hyper-connections)",
    "o_lora_rank": "a low rank of the attention output",
    "num_hash_layers": "experts chosen by a hash",
    "hidden_size_per_layer_input": "per-layer embeddings (Gemma 3n, Gemma 4)",
    "altup_num_inputs": "several residual streams (Gemma 3n)",
    "laurel_rank": "low-rank residual blocks (Gemma 3n)",
    "activation_sparsity_pattern": "sparse activations (Gemma 3n)",
    "num_kv_shared_layers": "layers that share keys and values",
    "global_head_dim": "full layers with another head size (Gemma 4)",
    "num_global_key_value_heads": "full layers with other key-value heads (Gemma 4)",
    "attention_k_eq_v": "keys that are values (Gemma 4)",
    "use_double_wide_mlp": "layers with a wider MLP (Gemma 4)",
    "enable_moe_block": "experts next to a dense MLP (Gemma 4)",
    "use_cla": "layers that share keys and values (cross-layer attention)",
    "sparse_attention_config": "block-sparse attention",
    "sparse_config": "block-sparse attention (MiniCPM4)",
    "sparse_attention": "block-sparse attention",
    "moba_chunk_size": "block-sparse attention (MoBA)",
    "attention_types": "windows that alternate by attention_types (GPT-Neo)",
    "block_configs": "blocks that differ by layer (Nemotron-NAS)",
    "block_types": "gated linear recurrences (RecurrentGemma)",
    "lru_width": "gated linear recurrences (RecurrentGemma)",
    "layer_group_size": "linear attention by layer groups (Ling, Ring)",
    "share_q_dim": "multi-matrix factorized attention (Step-3)",
    "attention_other_setting": "window layers with another number of heads (Step-3.5)",
    "num_mem_blocks": "attention blocks that layers share (Zamba2)",
    "hybrid_layer_ids": "attention blocks that layers share (Zamba2)",
    "ssm_cfg": "the key of the first Mamba files; use the file of the -hf repository",
    "attn_layer_idx": "the key of the first Mamba files; use the file of the -hf repository",
    "total_ut_steps": "layers that run several times",
    "num_loops": "layers that run several times",
    "loop_num": "layers that run several times",
    "mean_recurrence": "layers that run several times",
    "ngram_vocab_size_ratio": "embeddings of word groups",
    "engram_layers": "embeddings of word groups",
    "parallel_attn_mlp_res": "a dense MLP next to the experts (Arctic)",
    "use_residual_moe": "a dense MLP next to the experts",
    "conv_kernel_size": "a convolution next to the first layer (DeBERTa-v2)",
    "pruned_heads": "layers with fewer heads",
    "num_hidden_groups": "layers that share parameters (ALBERT)",
    "quant_mixed_layers": "layers in different formats",
}
"""Key that changes the cost -> what it means; no reader counts it."""
READ_TEXT = """
    add_qkv_bias attention_bias attention_chunk_size attention_out_bias attn_layer_indices
    attn_layer_offset attn_layer_period attn_output_gate attn_type_list block_auto_adjust_ff_dim
    block_ffn_dim_multiplier block_multiple_of conv_L_cache conv_bias d_ff d_kv decoder_attention_heads
    decoder_ffn_dim decoder_layers decoder_sparse_step embedding_size encoder_attention_heads
    encoder_ffn_dim encoder_layers expansion_ratio expert_bias expert_layer_offset expert_layer_period
    full_attention_interval full_attn_idxs gated_mlp global_attn_every_n_layers hybrid_layer_pattern
    hybrid_override_pattern index_head_dim index_n_heads index_topk index_topk_freq indexer_types
    interleave_moe_layer_step is_causal is_decoder kv_lora_rank layer_types layers_block_type
    linear_attn_config linear_conv_kernel_dim linear_head_dim linear_key_head_dim linear_num_heads
    linear_num_key_heads linear_num_value_heads linear_value_head_dim local_attention mamba_conv_bias
    mamba_d_ssm mamba_proj_bias mamba_rms_norm max_position_embeddings max_source_positions
    max_target_positions max_window_layers mlp_bias mlp_layer_types mlp_only_layers model_type
    moe_latent_size moe_layer_end_index moe_layer_freq moe_layer_interval moe_layers moe_layers_enum
    multi_query new_decoder_architecture num_decoder_layers num_heads num_key_value_heads_per_layer
    num_key_value_heads_total num_mel_bins pos_att_type position_biased_input position_buckets
    post_norms projectors_bias q_lora_rank qk_nope_head_dim qk_norm qk_rope_head_dim qkv_bias
    relative_attention_num_buckets router_bias share_att_key share_expert_dim sliding_window
    sliding_window_pattern swa_head_dim swa_num_attention_heads swa_num_key_value_heads swa_v_head_dim
    tie_word_embeddings topk_group type_vocab_size use_bias use_bidirectional_attention use_conv_bias
    use_qk_norm use_qkv_bias use_sliding_window v_head_dim word_embed_proj_dim zero_expert_num
    """
READ = frozenset(READ_TEXT.split())
"""Keys that the readers use, in addition to the sizes of :data:`dcplan.llm.configs.names.ALIASES`."""
