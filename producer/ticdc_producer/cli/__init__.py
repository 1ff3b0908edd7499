"""The command ``ticdc-producer``: thin; the work is done by ``ticdc_producer.api``."""

from ticdc_producer.cli.app import main

__all__ = ["main"]
