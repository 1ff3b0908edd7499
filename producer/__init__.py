"""ticdc-producer: the sink side of TiCDC, simulated, for those who write its consumers.

::

    import producer

    report = producer.run("seed_t1")                      # an embedded Kafka, verified
    verdict = producer.verify(folder="golden/seed_t1")    # or sink_uri="kafka://…"

Nothing heavy is imported until a name is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from producer.api import (
        RunReport,
        StateOutcome,
        Verdict,
        changes,
        decode,
        run,
        run_changes,
        run_paced,
        tables,
        verify,
        verify_state,
    )
    from producer.errors import ProducerError
    from producer.model.shapes import CHANGE_LOG, DECODED, EVENT_STREAM, MESSAGES

__all__ = [
    "CHANGE_LOG",
    "DECODED",
    "EVENT_STREAM",
    "MESSAGES",
    "ProducerError",
    "RunReport",
    "StateOutcome",
    "Verdict",
    "changes",
    "decode",
    "run",
    "run_changes",
    "run_paced",
    "tables",
    "verify",
    "verify_state",
]

_HOMES = {
    **dict.fromkeys(("CHANGE_LOG", "DECODED", "EVENT_STREAM", "MESSAGES"), "producer.model.shapes"),
    "ProducerError": "producer.errors",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'producer' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "producer.api")), name)
