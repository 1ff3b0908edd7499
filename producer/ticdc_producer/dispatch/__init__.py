"""Dispatch: the topic and partition of each event, and what filters and column selectors let through."""

from ticdc_producer.dispatch.rules import Route, Router, RuleName

__all__ = ["Route", "Router", "RuleName"]
