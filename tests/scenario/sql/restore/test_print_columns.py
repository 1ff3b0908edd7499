"""Columns as printed by ``print_ddl``; the expected texts are those of TiDB's parser."""

from __future__ import annotations

import pytest

from ticdc_producer.scenario.sql.restore import print_ddl


@pytest.mark.parametrize(("typed", "printed"), [
    ("a int4", "`a` INT"),
    ("a middleint(3)", "`a` MEDIUMINT(3)"),
    ("a bool", "`a` TINYINT(1)"),
    ("a bigint(20) zerofill", "`a` BIGINT(20) UNSIGNED ZEROFILL"),
    ("a tinyint unsigned signed", "`a` TINYINT UNSIGNED"),
    ("a dec", "`a` DECIMAL"),
    ("a numeric(8,2) unsigned", "`a` DECIMAL(8,2) UNSIGNED"),
    ("a fixed(4)", "`a` DECIMAL(4)"),
    ("a float(24)", "`a` FLOAT"),
    ("a float(25)", "`a` DOUBLE"),
    ("a float(7,3)", "`a` FLOAT(7,3)"),
    ("a real(4,2)", "`a` DOUBLE(4,2)"),
    ("a float8 unsigned", "`a` DOUBLE UNSIGNED"),
    ("a bit", "`a` BIT(1)"),
    ("a year(4) unsigned", "`a` YEAR(4)"),
    ("a datetime(0)", "`a` DATETIME(0)"),
    ("a vector<float>(3)", "`a` VECTOR(3)"),
    ("a serial", "`a` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE KEY"),
    ("a nchar(4)", "`a` CHAR(4)"),
    ("a national varchar(5)", "`a` VARCHAR(5)"),
    ("a char varying(4)", "`a` VARCHAR(4)"),
    ("a long varchar charset utf8", "`a` MEDIUMTEXT CHARACTER SET UTF8"),
    ("a long varbinary", "`a` MEDIUMBLOB"),
    ("a text(100) charset binary", "`a` BLOB(100)"),
    ("a char(3) binary", "`a` CHAR(3) BINARY"),
    ("a varchar(9) character set latin1 binary", "`a` VARCHAR(9) BINARY CHARACTER SET LATIN1"),
    ("a text byte", "`a` BLOB"),
    (
        "a varchar(9) charset utf8mb3 collate utf8mb3_bin",
        "`a` VARCHAR(9) CHARACTER SET UTF8 COLLATE utf8_bin",
    ),
    ("a enum('x ', 'it''s') charset utf8 collate utf8_bin", "`a` ENUM('x','it''s') COLLATE utf8_bin"),
    ("a set('x') binary", "`a` SET('x') BINARY"),
    ("`a``b` int", "`a``b` INT"),
    ("t.a int", "`t`.`a` INT"),
])  # fmt: skip
def test_types(typed: str, printed: str) -> None:
    assert print_ddl(f"create table t ({typed})") == f"CREATE TABLE `t` ({printed})"


@pytest.mark.parametrize(("typed", "printed"), [
    ("not null", "NOT NULL"),
    ("key", "PRIMARY KEY"),
    ("primary key nonclustered", "PRIMARY KEY /*T![clustered_index] NONCLUSTERED */"),
    ("unique", "UNIQUE KEY"),
    ("unique key", "UNIQUE KEY"),
    ("auto_random", "/*T![auto_rand] AUTO_RANDOM */"),
    ("auto_random(3, 40)", "/*T![auto_rand] AUTO_RANDOM(3, 40) */"),
    ("comment 'a\\\\b''c'", "COMMENT 'a\\\\b''c'"),
    ("collate UTF8MB4_BIN", "COLLATE utf8mb4_bin"),
    ("on update now(3)", "ON UPDATE CURRENT_TIMESTAMP(3)"),
    ("as (b + 1)", "GENERATED ALWAYS AS(`b`+1) VIRTUAL"),
    ("generated always as (b) stored unique key", "GENERATED ALWAYS AS(`b`) STORED UNIQUE KEY"),
    (
        "references d.p (x) on update cascade on delete set null",
        "REFERENCES `d`.`p`(`x`) ON DELETE SET NULL ON UPDATE CASCADE",
    ),
    ("check (a > 1)", "CHECK(`a`>1) ENFORCED"),
    ("constraint c check (a > 1) not enforced not null", "CONSTRAINT `c` CHECK(`a`>1) NOT ENFORCED NOT NULL"),
    ("storage disk", "STORAGE DISK"),
    ("column_format fixed", "COLUMN_FORMAT FIXED"),
    ("serial default value", "NOT NULL AUTO_INCREMENT UNIQUE KEY"),
    ("secondary_engine_attribute='x'", "SECONDARY_ENGINE_ATTRIBUTE = 'x'"),
])  # fmt: skip
def test_attributes(typed: str, printed: str) -> None:
    assert print_ddl(f"create table t (a int {typed})") == f"CREATE TABLE `t` (`a` INT {printed})"


@pytest.mark.parametrize(("typed", "printed"), [
    ("null", "NULL"),
    ("+1", "+1"),
    ("-.5", "-0.5"),
    ("00.50", "0.50"),
    ("5.", "5"),
    ("1E5", "1e+05"),
    ("1.5e300", "1.5e+300"),
    ("18446744073709551616", "18446744073709551616"),
    ("true", "TRUE"),
    ("'a' 'b'", "_UTF8MB4'ab'"),
    ('"it\'s"', "_UTF8MB4'it''s'"),
    ("'a\\\\b\\n'", "_UTF8MB4'a\\\\b\n'"),
    ("n'x'", "_UTF8'x'"),
    ("_latin1'x'", "_LATIN1'x'"),
    ("_utf8mb4 x'41'", "x'41'"),
    ("0xABC", "x'0abc'"),
    ("b'0010'", "b'10'"),
    ("b''", "b''"),
    ("now()", "CURRENT_TIMESTAMP()"),
    ("localtimestamp(3)", "CURRENT_TIMESTAMP(3)"),
    ("(current_timestamp)", "CURRENT_TIMESTAMP()"),
    ("curdate()", "(CURRENT_DATE())"),
    ("(uuid())", "(UUID())"),
    ("upper('x')", "(UPPER(_UTF8MB4'x'))"),
    ("(a)", "(`a`)"),
    ("next value for d.s", "(NEXTVAL(`d`.`s`))"),
    ("date_format(now(), '%Y')", "(DATE_FORMAT(NOW(), _UTF8MB4'%Y'))"),
])  # fmt: skip
def test_defaults(typed: str, printed: str) -> None:
    assert (
        print_ddl(f"create table t (a int default {typed})")
        == f"CREATE TABLE `t` (`a` INT DEFAULT {printed})"
    )
