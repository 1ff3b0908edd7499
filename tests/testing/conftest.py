"""Fixtures for tests of the plugin, which run pytest inside of pytest."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

import ticdc_producer


@pytest.fixture(scope="session", autouse=True)
def _everything_is_imported() -> None:
    """pytester unloads modules that an inner run imported first; importing them again creates new classes."""
    for module in pkgutil.walk_packages(ticdc_producer.__path__, "ticdc_producer."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
