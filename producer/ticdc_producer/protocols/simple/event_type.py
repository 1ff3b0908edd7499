"""The values of ``type``, and the symbols and branches that stand for them in the Avro encoding.

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``getDDLType``) with the action codes of tidb
``pkg/meta/model/job.go``.

All messages have the same schema, which readers must have: a union of named types, of which the message is
the last. A message therefore starts with the index of that branch. Source: tiflow
``pkg/sink/codec/simple/message.json``, ``avro.go``; the indexes were found from its bytes.
"""

from __future__ import annotations

from ticdc_producer.model.event import Op
from ticdc_producer.model.profile import Profile
from ticdc_producer.protocols.craft.wire import varint
from ticdc_producer.protocols.ddl_keywords import DDLKeywords

EXCHANGE_PARTITION = 42
WATERMARK, BOOTSTRAP = "WATERMARK", "BOOTSTRAP"
OPS = {op.name: op for op in Op}

_DDLS = DDLKeywords(
    {
        "CREATE": (3,),
        "RENAME": (14, 47),
        "CINDEX": (7, 9, 32),
        "DINDEX": (8, 10, 33),
        "ERASE": (4,),
        "TRUNCATE": (11,),
        "ALTER": (5, 6, 12, 13, 15, 17, 18, 19, 20, 22, 23, 41, 61, 64, 71, 72),
    }
)
DDL_TYPE_NAMES = _DDLS.all
action_of = _DDLS.action_code


def ddl_type_name(action: int, profile: Profile) -> str:
    """``type`` of a DDL with TiDB's action code; for EXCHANGE PARTITION it depends on the profile."""
    if action == EXCHANGE_PARTITION and profile == "new":
        return "ALTER"
    return _DDLS.of(action)


def is_message_type(name: str) -> bool:
    """Whether messages of the protocol can have this type."""
    return name in OPS or name in DDL_TYPE_NAMES or name in (WATERMARK, BOOTSTRAP)


MESSAGE = varint(11)
"""The first byte of every message: the union branch of the message type."""
AVRO_WATERMARK, AVRO_BOOTSTRAP, DDL, DML = range(4)
"""Symbols of the message type, which are also the branches of the payload."""
DDL_TYPES = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
OP_NAMES = ("INSERT", "UPDATE", "DELETE")
NULL, PRESENT = varint(0), varint(1)
"""Union branches of an optional value."""
LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED_BIGINT = range(1, 8)
"""Union branches of a column value; 0 is NULL."""
