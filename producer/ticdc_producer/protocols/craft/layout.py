"""Constants of the Craft format. Source: tiflow craft ``model.go``."""

from __future__ import annotations

VERSION = 1

NEW_VALUES = 1
OLD_VALUES = 2
"""Types of column groups."""

NO_PARTITION = -1
NO_NAME = -1
