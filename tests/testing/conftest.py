"""Tests of the plugin run pytest inside of pytest."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

import ticdc_producer


@pytest.fixture(scope="session", autouse=True)
def _everything_is_imported() -> None:
    """pytester forgets what an inner run was the first to import; imported again, it has other classes."""
    for module in pkgutil.walk_packages(ticdc_producer.__path__, "producer."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
