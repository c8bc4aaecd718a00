"""``dcplan train --post-training``: reinforcement learning on one system."""
