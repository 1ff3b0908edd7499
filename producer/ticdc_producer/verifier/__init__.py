"""Verifies a stream of decoded events; the same functions serve ten messages and a hundred million."""

from __future__ import annotations

from ticdc_producer.verifier.check import check
from ticdc_producer.verifier.finding import EventRef, Example, Finding
from ticdc_producer.verifier.options import ExpectedDispatch, VerifyOptions

__all__ = ["EventRef", "Example", "ExpectedDispatch", "Finding", "VerifyOptions", "check"]
