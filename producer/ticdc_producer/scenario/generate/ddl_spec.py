"""The key ``ddl`` of a ``generate`` step."""

from __future__ import annotations

from pydantic import Field, model_validator

from ticdc_producer.scenario.generate.table_spec import Weight
from ticdc_producer.scenario.strict_model import StrictModel

MOST_DDLS = 100
"""Maximum number of DDLs of a step: values of added columns are drawn for every event."""


class DDLMix(StrictModel):
    """How often the table is altered, and the weights of the kinds of DDL, in any unit."""

    every: int = Field(ge=1, description="Transactions between two DDLs.")
    add_column: Weight = Field(default=0, description="Weight of ADD COLUMN.")
    drop_column: Weight = Field(default=0, description="Weight of DROP COLUMN of an added column.")
    add_index: Weight = Field(default=0, description="Weight of ADD INDEX.")
    drop_index: Weight = Field(default=0, description="Weight of DROP INDEX of an added index.")
    rename_table: Weight = Field(default=0, description="Weight of RENAME TABLE.")
    truncate_table: Weight = Field(
        default=0,
        description="Weight of TRUNCATE TABLE; a truncated row is inserted again at its next change.",
    )

    @model_validator(mode="after")
    def _check_weights(self) -> DDLMix:
        if not any(self.weights().values()):
            raise ValueError("the weights are all 0")
        for kind in ("column", "index"):
            if self.weights()[f"drop-{kind}"] and not self.weights()[f"add-{kind}"]:
                raise ValueError(f"drop-{kind} requires a weight of add-{kind}")
        return self

    def weights(self) -> dict[str, float]:
        """Weights by the key of the scenario."""
        return {
            "add-column": self.add_column,
            "drop-column": self.drop_column,
            "add-index": self.add_index,
            "drop-index": self.drop_index,
            "rename-table": self.rename_table,
            "truncate-table": self.truncate_table,
        }

    def count(self, transactions: int) -> int:
        """Number of DDLs; a transaction follows the last one."""
        return (transactions - 1) // self.every
