"""When a process imports pandas, which pyarrow does for its first array if it is installed.

pandas takes longer to load than all else that a small run loads, and only PySpark uses it.
"""

from __future__ import annotations

import sys
from contextlib import suppress


def postpone_pandas() -> None:
    """Let pyarrow find no pandas until :func:`allow_pandas`.

    Only for a process of our own: another may hand pandas objects to pyarrow.
    """
    if "pandas" in sys.modules:
        return
    sys.modules["pandas"] = None  # type: ignore[assignment] # how Python marks what must not be imported
    import pyarrow as pa

    with suppress(AttributeError):  # pyarrow looks once; a module that is None has no version
        pa.array([])


def allow_pandas() -> None:
    """Let imports find pandas again."""
    if sys.modules.get("pandas") is None:
        sys.modules.pop("pandas", None)
