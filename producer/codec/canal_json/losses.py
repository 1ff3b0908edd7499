"""What Canal-JSON does not carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from producer.codec.canal_json.event_type import ddl_word, told_action
from producer.codec.canal_json.mysql_type import bare_type, full_type
from producer.model.flags import ColumnFlag
from producer.model.losses import Losses
from producer.model.mysql_type import LOBS, STRINGS
from producer.model.table import ColumnInfo
from producer.model.tso import LOGICAL_BITS

_PRIMARY = ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class CanalJSONLosses(Losses):
    """The codec's own account; each method reduces one thing to what a consumer can know of it.

    Beside these: table and row ids are not sent (both read as 0), and an update whose old image is cut
    to what changed keeps its operation even where nothing did.

    :param commit_ts: without the extension only ``es`` tells the time, in milliseconds.
    :param column_types: whether types come without their parameters or with them.
    :param resolved: whether resolved events are sent.
    """

    commit_ts: Literal["exact", "milliseconds"]
    column_types: Literal["bare", "full"]
    resolved: bool

    def told_commit_ts(self, commit_ts: int) -> int:
        """The TSO as it reads: exact, or of the same millisecond with logical part 0."""
        return commit_ts if self.commit_ts == "exact" else commit_ts >> LOGICAL_BITS << LOGICAL_BITS

    def told_type(self, column: ColumnInfo) -> str:
        """The type text of a column."""
        return bare_type(column) if self.column_types == "bare" else full_type(column)

    @staticmethod
    def told_flag(flag: int) -> int:
        """``pkNames`` tells the primary key, which is then the handle key too, and nothing else."""
        return int(_PRIMARY) if flag & ColumnFlag.PRIMARY_KEY else 0

    @staticmethod
    def told_ddl_type(action: int) -> int:
        """TiDB's action code, 0 where Canal's word stands for several."""
        return told_action(ddl_word(action))

    @staticmethod
    def damages(column: ColumnInfo) -> bool:
        """Whether bytes that are not UTF-8 become U+FFFD each; byte strings survive."""
        return column.type in STRINGS | LOBS and not column.binary
