"""The command ``ticdc-producer``: thin; what it does stands in ``ticdc_producer.api``."""

from ticdc_producer.cli.app import main

__all__ = ["main"]
