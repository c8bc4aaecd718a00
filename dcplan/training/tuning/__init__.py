"""Training after pre-training: adapters, fine-tuning steps, reinforcement learning."""
