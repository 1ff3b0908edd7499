"""What is known of the tables whose columns are masked, and whether the rules fit them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ticdc_producer.errors import RecordingError
from ticdc_producer.masks.methods import check_method
from ticdc_producer.masks.rules import ColumnMask, MaskRules
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import TYPES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.replica.versions import ColumnMapping, Version

_TEXT_FAMILIES = ("string", "lob")
AMBIGUOUS_HINT = (
    "use hash for letters of other scripts than Latin and Chinese, and keep days that do not exist"
)
_VERSIONS_HINT = "null or keep the column, or record what is before or after the DDL"
_GENERATED_HINT = "keep the columns that it is computed of, or leave the table out"


def _key(*names: str) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


@dataclass
class MaskedTables:
    """The columns of all tables, by the definitions that are known.

    :ivar columns: the last definition of each column, by schema, table and name in lower case.
    :ivar names: schema and table of each of these columns, as they are spelled.
    :ivar unique: the columns of unique keys.
    :ivar recast: tables with a column that is generated in some definitions only.
    :ivar partition_words: the words of the partition functions of each table whose PARTITION BY is known.
    :ivar moves: whether a table may have got the partitions of another one, by RENAME or LIKE.
    :ivar ambiguous: the columns with masked values that may be equal for different ones.
    :ivar members: the names of the columns, by schema and table, all in lower case.
    """

    rules: MaskRules
    columns: dict[tuple[str, ...], ColumnInfo] = field(default_factory=dict)
    names: dict[tuple[str, ...], tuple[str, str]] = field(default_factory=dict)
    unique: set[tuple[str, ...]] = field(default_factory=set)
    recast: set[tuple[str, ...]] = field(default_factory=set)
    partition_words: dict[tuple[str, ...], set[str]] = field(default_factory=dict)
    moves: bool = False
    ambiguous: set[tuple[str, ...]] = field(default_factory=set)
    members: dict[tuple[str, ...], set[str]] = field(default_factory=dict)

    def see_versions(self, versions: Iterable[Version]) -> None:
        """Note and check the definitions of tables, and the DDLs between them.

        :param versions: of the tables that are recorded.
        :raises RecordingError: for a rule that does not fit, with the name of the column.
        """
        by_number = {version.number: version for version in versions}
        for version in by_number.values():
            self.see_table(version.definition.info, version.name)
            for migration in version.migrations:
                target = by_number.get(migration.target)
                for mapping in () if target is None else migration.columns or _unchanged(version):
                    self._check_mapping(version, target or version, mapping)

    def see_partitions(self, schema: str, table: str, words: set[str]) -> None:
        """Note what distributes the rows of a table, in lower case."""
        self.partition_words.setdefault(_key(schema, table), set()).update(words)

    def words_of_partitions(self, schema: str, table: str) -> set[str] | None:
        """Return the words of the partition functions of a table; None: they are not known."""
        words = self.partition_words.get(_key(schema, table))
        return set().union(*self.partition_words.values()) if words is not None and self.moves else words

    def see_table(self, table: TableInfo, name: tuple[str, str] | None = None) -> None:
        """Note and check the definition of a table.

        :param name: schema and table, if the messages spell them differently.
        :raises RecordingError: for a rule that does not fit, with the name of the column.
        """
        schema, own = name or (table.schema, table.name)
        for column in table.columns:
            self._check_earlier(schema, own, column)
            self.members.setdefault(_key(schema, own), set()).add(column.name.lower())
            self.columns[_key(schema, own, column.name)] = column
            self.names[_key(schema, own, column.name)] = schema, own
        for index in table.indexes:
            if index.unique or index.primary:
                for offset in index.offsets:
                    name_of = table.columns[offset].name
                    self.unique.add(_key(schema, own, name_of))
                    if _key(schema, own, name_of) in self.ambiguous:
                        raise _ambiguous("its rule", f"{schema}.{own}.{name_of}")
        handle = table.handle_index
        in_handle = set() if handle is None else set(handle.offsets)
        masks = [self.mask_of(schema, own, column) for column in table.columns]
        if any(masks) and _key(schema, own) in self.recast:
            what = f"{schema}.{own} has masked columns, and another that is generated at some times only"
            raise RecordingError(what, hint=_VERSIONS_HINT)
        for offset, (column, mask) in enumerate(zip(table.columns, masks, strict=True)):
            label = f"{schema}.{own}.{column.name}"
            if column.generated:
                if offset in in_handle and any(masks):
                    what = f"the generated column {label} is in the handle key of a table with masked columns"
                    raise RecordingError(what, hint=_GENERATED_HINT)
            elif mask is not None:
                check_method(mask, column, label)
                is_unique = self.is_unique(schema, own, column.name)
                self._check_key(mask, column, label, is_unique, offset in in_handle)

    def _check_earlier(self, schema: str, table: str, column: ColumnInfo) -> None:
        """Check that a column is masked as by its earlier definition: its last one serves all values."""
        earlier = self.columns.get(_key(schema, table, column.name))
        if earlier is None:
            return
        if bool(earlier.generated) != bool(column.generated):
            self.recast.add(_key(schema, table))
        masks = [self.mask_of(schema, table, definition) for definition in (earlier, column)]
        kinds = {_masked_kind(definition) for definition in (earlier, column)}
        if masks[0] != masks[1] or (masks[0] and masks[0].method != "null" and len(kinds) > 1):
            what = f"{schema}.{table}.{column.name} has definitions that are masked differently"
            raise RecordingError(f"{what}: {earlier.type_name} and {column.type_name}", hint=_VERSIONS_HINT)

    @staticmethod
    def _check_key(
        mask: ColumnMask, column: ColumnInfo, label: str, is_unique: bool, in_handle: bool
    ) -> None:
        what = ""
        if mask.method == "null" and (in_handle or not column.nullable):
            what = f"null does not mask {label}, which is NOT NULL"
        elif is_unique and (mask.method == "fake" or TYPES[column.type].family == "float"):
            what = f"{mask.method} does not keep {label} unique"
        if what:
            raise RecordingError(what, hint="use format or hash, which keep keys unique")

    def see_ambiguous(self, mask: ColumnMask, schema: str, table: str, name: str) -> None:
        """Note that masked values of a column may be equal for different ones.

        :raises RecordingError: if it is part of a unique key; ``see_table`` raises it for later keys.
        """
        self.ambiguous.add(_key(schema, table, name))
        if self.is_unique(schema, table, name):
            raise _ambiguous(mask.method, f"{schema}.{table}.{name}")

    def mask_of(self, schema: str, table: str, column: ColumnInfo) -> ColumnMask | None:
        """Return what becomes of a column; None: its values stay, or are computed again."""
        return None if column.generated else self.rules.mask_of(schema, table, column)

    def column(self, schema: str, table: str, name: str) -> ColumnInfo | None:
        """Return the definition of a column; None: it is not known."""
        return self.columns.get(_key(schema, table, name))

    def all_columns(self) -> Iterator[tuple[str, str, ColumnInfo]]:
        """Yield schema, table and definition of all columns."""
        for key, column in self.columns.items():
            yield (*self.names[key], column)

    def is_unique(self, schema: str, table: str, name: str) -> bool:
        """Return whether a column is part of a unique key."""
        return _key(schema, table, name) in self.unique

    def masked_names(self, schema: str, table: str) -> set[str]:
        """Return the names, in lower case, of the known columns of a table that are masked."""
        own = _key(schema, table)
        return {
            name
            for name in self.members.get(own, ())
            if self.mask_of(schema, table, self.columns[(*own, name)])
        }

    def generated_columns(self, schema: str, table: str) -> Iterator[ColumnInfo]:
        """Yield the known columns of a table that are generated."""
        own = _key(schema, table)
        columns = (self.columns[(*own, name)] for name in self.members.get(own, ()))
        return (column for column in columns if column.generated)

    def _check_mapping(self, before: Version, after: Version, mapping: ColumnMapping) -> None:
        """Check that a DDL does not give values to a column with another mask."""
        old = before.definition.info.visible_offsets.get(mapping.source.lower())
        new = after.definition.info.visible_offsets.get(mapping.name.lower())
        if old is None or new is None:
            return
        source, target = before.definition.info.columns[old], after.definition.info.columns[new]
        mask, later = self.mask_of(*before.name, source), self.mask_of(*after.name, target)
        names = f"{'.'.join(before.name)}.{source.name} becomes {'.'.join(after.name)}.{target.name}"
        if mask != later:
            raise RecordingError(
                f"a DDL gives values to a column with another mask: {names}",
                hint="give both columns the same rule",
            )
        if mask and mask.method != "null" and TYPES[source.type].family != TYPES[target.type].family:
            what = f"a DDL converts masked values to {target.type_name}: {names}"
            raise RecordingError(
                what, hint="keep or null the column, or record what is before or after the DDL"
            )


def _ambiguous(method: str, label: str) -> RecordingError:
    what = f"{method} does not keep a value of {label} unique"
    return RecordingError(what, hint=AMBIGUOUS_HINT)


def _masked_kind(column: ColumnInfo) -> tuple[object, ...]:
    """Return what decides, in addition to the rule, how values of a column are masked."""
    family = TYPES[column.type].family
    if family in _TEXT_FAMILIES:
        return "text", column.binary
    return (family,) if family == "integer" else (family, column.type)


def _unchanged(version: Version) -> Iterator[ColumnMapping]:
    for column in version.definition.info.columns:
        yield ColumnMapping(name=column.name, source=column.name)
