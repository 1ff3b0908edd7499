"""The command ``ticdc-producer``: thin; what it does stands in ``producer.api``."""

from producer.cli.app import main

__all__ = ["main"]
