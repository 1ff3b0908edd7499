"""The form of the DDLs of a ``generate`` step."""

from __future__ import annotations

from pydantic import Field, model_validator

from ticdc_producer.scenario.generate.table_form import Weight
from ticdc_producer.scenario.strict_model import Part

MOST_DDLS = 100
"""DDLs of a step: every column that is added is drawn for every event."""


class DDLMix(Part):
    """How often the table is changed, and how often in which way, in any unit."""

    every: int = Field(ge=1, description="Transactions between two DDLs.")
    add_column: Weight = Field(default=0, description="Weight of ADD COLUMN.")
    drop_column: Weight = Field(default=0, description="Weight of DROP COLUMN of one that was added.")
    add_index: Weight = Field(default=0, description="Weight of ADD INDEX.")
    drop_index: Weight = Field(default=0, description="Weight of DROP INDEX of one that was added.")
    rename_table: Weight = Field(default=0, description="Weight of RENAME TABLE.")
    truncate_table: Weight = Field(
        default=0, description="Weight of TRUNCATE TABLE; rows come back when hit."
    )

    @model_validator(mode="after")
    def _can_go_on(self) -> DDLMix:
        if not any(self.weights().values()):
            raise ValueError("the weights are all 0")
        for kind in ("column", "index"):
            if self.weights()[f"drop-{kind}"] and not self.weights()[f"add-{kind}"]:
                raise ValueError(f"drop-{kind} takes away what add-{kind} brought; give that a weight too")
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
        """How many DDLs there are; behind the last of them comes a transaction."""
        return (transactions - 1) // self.every
