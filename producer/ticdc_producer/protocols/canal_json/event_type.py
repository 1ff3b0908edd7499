"""``type``: Canal's keywords for row changes and DDLs.

Source: tiflow ``pkg/sink/codec/canal/canal_entry.go`` (``convertDdlEventType``) with the action codes of
tidb ``pkg/meta/model/job.go``.
"""

from __future__ import annotations

from ticdc_producer.model.event import Op
from ticdc_producer.protocols.ddl_keywords import DDLKeywords

WATERMARK = "TIDB_WATERMARK"
OPS = {op.name: op for op in Op}

_DDLS = DDLKeywords(
    {
        "CREATE": (3,),
        "RENAME": (14, 47),
        "CINDEX": (7, 9, 32),
        "DINDEX": (8, 10, 33),
        "ERASE": (4,),
        "TRUNCATE": (11,),
        "ALTER": (5, 6, 12, 13, 15, 17, 18, 19, 20, 22, 23, 37, 38, 41, 61, 64, 71, 72),
    }
)
DDL_KEYWORDS = _DDLS.all
ddl_keyword = _DDLS.of
action_code = _DDLS.action_code
