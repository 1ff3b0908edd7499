"""``type``: the words for row changes, DDLs and the rest.

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``getDDLType``) with the action codes of tidb
``pkg/meta/model/job.go``.
"""

from __future__ import annotations

from ticdc_producer.model.event import Op
from ticdc_producer.model.profile import Profile
from ticdc_producer.protocols.ddl_keywords import DDLWords

EXCHANGE_PARTITION = 42
WATERMARK, BOOTSTRAP = "WATERMARK", "BOOTSTRAP"
OPS = {op.name: op for op in Op}

_DDLS = DDLWords(
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
DDL_WORDS = _DDLS.all
told_action = _DDLS.told_action


def ddl_word(action: int, profile: Profile) -> str:
    """The word for a DDL of TiDB's action code; the classic program has none for EXCHANGE PARTITION."""
    if action == EXCHANGE_PARTITION and profile == "new":
        return "ALTER"
    return _DDLS.of(action)


def is_message_type(word: str) -> bool:
    """Whether messages of the protocol can have this type."""
    return word in OPS or word in DDL_WORDS or word in (WATERMARK, BOOTSTRAP)
