"""What Canal-JSON does not carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols.canal_json.event_type import ddl_word, told_action
from ticdc_producer.protocols.canal_json.mysql_type import bare_type, full_type

_PRIMARY = ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class CanalJSONLosses(Losses):
    """The codec's own account.

    :param column_types: whether types come without their parameters or with them.
    """

    column_types: Literal["bare", "full"]

    def told_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # told without flags
        return bare_type(column) if self.column_types == "bare" else full_type(column)

    def told_flag(self, flag: int) -> int:
        """``pkNames`` tells the primary key, which is then the handle key too, and nothing else."""
        return int(_PRIMARY) if flag & ColumnFlag.PRIMARY_KEY else 0

    def told_ddl_type(self, action: int) -> int:
        """TiDB's action code, 0 where Canal's word stands for several."""
        return told_action(ddl_word(action))
