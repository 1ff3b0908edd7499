"""Coverage: the traps that a stream exercises, derived from features of its events."""

from ticdc_producer.verifier.coverage.features import Visibility, exercised
from ticdc_producer.verifier.coverage.occurrences import TrapOccurrences

__all__ = ["TrapOccurrences", "Visibility", "exercised"]
