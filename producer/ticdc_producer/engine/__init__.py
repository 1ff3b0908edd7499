"""Datasets of Arrow batches, and the two engines that compute them: this process, and Spark."""
