"""From step time to calendar time: failures, checkpoints, spares, storage."""
