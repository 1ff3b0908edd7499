"""What DDL defines: columns, keys, tables, partitions and generated columns."""
