"""What the writers of the format ``ticdc`` share: options, plan, staged rows, and batches."""
