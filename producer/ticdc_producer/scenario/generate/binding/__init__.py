"""Binds a ``generate`` step to its tables: columns, references, DDLs; settings that do not fit are refused."""
