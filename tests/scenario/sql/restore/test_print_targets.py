"""DDLs under other names, with texts written by hand from ticdc ``pkg/routing/ddl_query_rewriter.go``."""

from __future__ import annotations

import pytest

from ticdc_producer.scenario.sql.restore import print_ddl_with_targets


def target(schema: str, table: str) -> tuple[str, str]:
    if schema.lower() != "source":
        return schema, table
    return "target", f"{table}_r" if table else ""


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        ("CREATE DATABASE `source`", "CREATE DATABASE `target`"),
        ("ALTER DATABASE `source` COLLATE = utf8mb4_bin", "ALTER DATABASE `target` COLLATE = utf8mb4_bin"),
        ("DROP DATABASE IF EXISTS `source`", "DROP DATABASE IF EXISTS `target`"),
        ("CREATE TABLE `t` (`a` INT)", "CREATE TABLE `target`.`t_r` (`a` INT)"),
        ("CREATE TABLE `t` LIKE `u`", "CREATE TABLE `target`.`t_r` LIKE `target`.`u_r`"),
        ("CREATE TABLE `t` LIKE `o`.`u`", "CREATE TABLE `target`.`t_r` LIKE `o`.`u`"),
        (
            "ALTER TABLE `o`.`t` ADD CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `source`.`u`(`b`)",
            "ALTER TABLE `o`.`t` ADD CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `target`.`u_r`(`b`)",
        ),
        ("DROP TABLE `source`.`t`", "DROP TABLE `target`.`t_r`"),
        ("TRUNCATE TABLE `t`", "TRUNCATE TABLE `target`.`t_r`"),
        ("RENAME TABLE `source`.`t` TO `o`.`t`", "RENAME TABLE `target`.`t_r` TO `o`.`t`"),
        ("ALTER TABLE `t` RENAME AS `u`", "ALTER TABLE `target`.`t_r` RENAME AS `target`.`u_r`"),
        ("CREATE INDEX `i` ON `t` (`a`)", "CREATE INDEX `i` ON `target`.`t_r` (`a`)"),
        ("DROP INDEX `i` ON `t`", "DROP INDEX `i` ON `target`.`t_r`"),
        (
            "ALTER TABLE `t` EXCHANGE PARTITION `p` WITH TABLE `u`",
            "ALTER TABLE `target`.`t_r` EXCHANGE PARTITION `p` WITH TABLE `target`.`u_r`",
        ),
        # Strings have no default charset, and operators have blanks.
        (
            "ALTER TABLE `t` ADD COLUMN `b` VARCHAR(9) DEFAULT _UTF8MB4'x'",
            "ALTER TABLE `target`.`t_r` ADD COLUMN `b` VARCHAR(9) DEFAULT 'x'",
        ),
        (
            "ALTER TABLE `t` ADD COLUMN `b` VARCHAR(9) DEFAULT _LATIN1'x'",
            "ALTER TABLE `target`.`t_r` ADD COLUMN `b` VARCHAR(9) DEFAULT _LATIN1'x'",
        ),
        (
            "ALTER TABLE `t` ADD CONSTRAINT `c` CHECK(`a`+1>=`b` DIV 2) ENFORCED",
            "ALTER TABLE `target`.`t_r` ADD CONSTRAINT `c` CHECK(`a` + 1 >= `b` DIV 2) ENFORCED",
        ),
    ],
)  # fmt: skip
def test_the_text_of_a_ddl(query: str, printed: str) -> None:
    assert print_ddl_with_targets(query, "source", target) == printed


def test_a_view_changes_columns_with_database_and_table_alone() -> None:
    query = (
        "CREATE ALGORITHM = UNDEFINED DEFINER = CURRENT_USER SQL SECURITY DEFINER VIEW `source`.`v` AS"
        " SELECT `SOURCE`.`T`.`id`,`t`.`a`,`b` FROM `source`.`t`"
    )
    assert print_ddl_with_targets(query, "source", target) == (
        "CREATE ALGORITHM = UNDEFINED DEFINER = CURRENT_USER SQL SECURITY DEFINER VIEW `target`.`v_r` AS"
        " SELECT `target`.`t_r`.`id`,`t`.`a`,`b` FROM `target`.`t_r`"
    )


@pytest.mark.parametrize("query", ["ALTER TABLE o.t ADD CHECK (a>1)", "drop table if exists o.t, p.u"])
def test_a_text_without_routed_tables_stays(query: str) -> None:
    assert print_ddl_with_targets(query, "source", target) == query
