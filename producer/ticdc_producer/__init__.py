"""ticdc-producer simulates the sink side of TiCDC, for developers of its consumers.

::

    import ticdc_producer

    report = ticdc_producer.run("seed_t1")                   # an embedded Kafka, verified
    verdict = ticdc_producer.verify(folder="golden/seed_t1")  # or sink_uri="kafka://…"

Modules are imported when a name is first used.
"""

from __future__ import annotations

if __name__ != "ticdc_producer":
    # With the repository root on sys.path, `producer.ticdc_producer` would load every module a second time.
    raise ImportError(f"import ticdc_producer, not {__name__}")

TYPE_CHECKING = False  # the module `typing` costs half a start of Python, and --server does not need it
if TYPE_CHECKING:
    from ticdc_producer.api import (
        HistoryDiff,
        Recording,
        RunReport,
        Scenario,
        StateOutcome,
        Transcoding,
        Verdict,
        changes,
        decode,
        diff,
        follow,
        mask,
        record,
        run,
        run_changes,
        run_realtime,
        suggest_rules,
        tables,
        transcode,
        transcode_growing,
        verify,
        verify_state,
    )
    from ticdc_producer.client import Client
    from ticdc_producer.errors import ProducerError
    from ticdc_producer.spark.storage import CHANGE_LOG, DECODED, EVENT_STREAM, MESSAGES

__all__ = [
    "CHANGE_LOG",
    "DECODED",
    "EVENT_STREAM",
    "MESSAGES",
    "Client",
    "HistoryDiff",
    "ProducerError",
    "Recording",
    "RunReport",
    "Scenario",
    "StateOutcome",
    "Transcoding",
    "Verdict",
    "changes",
    "decode",
    "diff",
    "follow",
    "mask",
    "record",
    "run",
    "run_changes",
    "run_realtime",
    "suggest_rules",
    "tables",
    "transcode",
    "transcode_growing",
    "verify",
    "verify_state",
]

_HOMES = {
    **dict.fromkeys(("CHANGE_LOG", "DECODED", "EVENT_STREAM", "MESSAGES"), "ticdc_producer.spark.storage"),
    "Client": "ticdc_producer.client",
    "ProducerError": "ticdc_producer.errors",
    "decode": "ticdc_producer.runs.decode",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'ticdc_producer' has no attribute {name!r}")
    from importlib import import_module

    try:
        return getattr(import_module(_HOMES.get(name, "ticdc_producer.api")), name)
    except ModuleNotFoundError as error:
        from ticdc_producer.installation import missing_part

        raise missing_part(error) or error from None
