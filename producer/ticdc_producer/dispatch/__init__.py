"""Dispatch: which topic and partition an event goes to."""

from ticdc_producer.dispatch.partition import dispatch, row_hash
from ticdc_producer.dispatch.rules import Route, Router, RuleName

__all__ = ["Route", "Router", "RuleName", "dispatch", "row_hash"]
