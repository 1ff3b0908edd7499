"""Recordings: the history of a topic as a scenario, a folder with ``scenario.yaml`` and Parquet files."""
