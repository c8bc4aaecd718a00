"""``dcplan validate post-training``: published fine-tuning and reinforcement learning runs."""
