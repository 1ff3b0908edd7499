"""The scenarios that come with the package."""

from __future__ import annotations

from importlib.resources.abc import Traversable

from ticdc_producer.errors import ScenarioError
from ticdc_producer.resources import bundled_dir
from ticdc_producer.scenario.yaml_tree import read_yaml


def shipped() -> dict[str, Traversable]:
    """Every shipped scenario by name, sorted."""
    folder = bundled_dir("scenarios")
    found = {
        entry.name.removesuffix(".yaml"): entry for entry in folder.iterdir() if entry.name.endswith(".yaml")
    }
    return dict(sorted(found.items()))


def descriptions() -> dict[str, str]:
    """The description of each shipped scenario; empty if it has none."""
    return {name: _description(entry) for name, entry in shipped().items()}


def _description(entry: Traversable) -> str:
    try:
        data = read_yaml(entry.read_text(encoding="utf-8"), entry.name).data
    except ScenarioError:
        return ""  # running the scenario reports the error; the list continues
    described = data.get("description") if isinstance(data, dict) else None
    return described.strip() if isinstance(described, str) else ""
