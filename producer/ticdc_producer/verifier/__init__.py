"""A stream is proved right, by Spark jobs that are the same for ten messages and for a hundred million."""

from __future__ import annotations

from ticdc_producer.verifier.checking import check
from ticdc_producer.verifier.finding import EventRef, Finding, Witness
from ticdc_producer.verifier.options import DispatchRule, VerifyOptions

__all__ = ["DispatchRule", "EventRef", "Finding", "VerifyOptions", "Witness", "check"]
