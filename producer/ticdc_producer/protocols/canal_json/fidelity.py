"""What messages of Canal-JSON carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols.canal_json.event_type import action_code, ddl_keyword
from ticdc_producer.protocols.canal_json.mysql_type import bare_type, full_type

_PRIMARY = ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class CanalJSONFidelity(Fidelity):
    """What messages of Canal-JSON carry.

    :param column_types: whether types are sent without (``bare``) or with (``full``) their parameters.
    """

    column_types: Literal["bare", "full"]

    def visible_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # the type text does not depend on the flag
        return bare_type(column) if self.column_types == "bare" else full_type(column)

    def visible_flag(self, flag: int) -> int:
        """``pkNames`` lists the primary key, which is then the handle key. Other flags are not sent."""
        return int(_PRIMARY) if flag & ColumnFlag.PRIMARY_KEY else 0

    def visible_ddl_type(self, action: int) -> int:
        """TiDB's action code; 0 if Canal's keyword has several."""
        return action_code(ddl_keyword(action))
