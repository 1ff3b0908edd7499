"""Which traps a stream exercises: small features of events, counted once, and the traps they make up."""

from ticdc_producer.verifier.coverage.features import Told, exercised
from ticdc_producer.verifier.coverage.rules import RULES, Found, Rule

__all__ = ["RULES", "Found", "Rule", "Told", "exercised"]
