"""The types of NumPy columns."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Longs: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Reals: TypeAlias = npt.NDArray[np.float64]
Octets: TypeAlias = npt.NDArray[np.uint8]
