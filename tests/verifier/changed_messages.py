"""Messages of a small changefeed, some of them changed by hand, and verified without a scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.sql_messages import messages_of
from ticdc_producer.config import resolve
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.targets.record_batches import record_batches
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.messages import Messages

SCRIPT = """
CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9) NOT NULL, born YEAR, note TEXT, doc JSON);
INSERT INTO t VALUES (1, 'ann', 1970, NULL, '{"a": 1}'), (2, 'bob', NULL, 'x', NULL);
UPDATE t SET note = 'y' WHERE id = 1;
DELETE FROM t WHERE id = 2;
"""


def findings_of(
    folder: Path, options: str, change: Callable[[bytes], bytes] = bytes, script: str = SCRIPT
) -> dict[str, Finding]:
    """Errors and warnings by their id.

    :param options: parameters of the sink URI.
    :param change: changes the value of each message.
    """
    uri = f"kafka:///t?partition-num=1&{options}"
    records = [
        Record(topic="t", partition=0, offset=offset, key=key or None, value=change(value))
        for offset, (key, value) in enumerate(messages_of(folder, script, options))
    ]
    rows = LocalEngine().of_batches(record_batches(records), MESSAGES)
    verdict = verify_messages(LocalEngine(), resolve(uri, None, name="t"), Messages(rows)).verdict
    return {finding.id: finding for finding in verdict.findings if finding.severity in ("error", "warning")}
