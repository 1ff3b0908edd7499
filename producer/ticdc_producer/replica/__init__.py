"""The reference consumer's tables: they follow the DDLs of a stream as those of a downstream database would.

Parser, coercions and partition functions are those of the SQL engine. State and its application are not:
the engine computes the expected rows, and this package those that a consumer of the messages gets.
"""
