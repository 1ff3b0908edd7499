"""Coverage: the traps that a stream exercises, derived from features of its events."""

from ticdc_producer.verifier.coverage.features import Visibility, exercised
from ticdc_producer.verifier.coverage.rules import Found

__all__ = ["Found", "Visibility", "exercised"]
