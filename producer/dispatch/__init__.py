"""Dispatch: which topic and partition an event goes to."""

from producer.dispatch.partition import dispatch, row_hash
from producer.dispatch.rules import Route, Router, RuleName

__all__ = ["Route", "Router", "RuleName", "dispatch", "row_hash"]
