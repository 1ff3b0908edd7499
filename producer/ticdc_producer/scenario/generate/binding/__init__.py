"""Binds a ``generate`` step to its tables: columns, references, DDLs. Invalid settings are refused."""
