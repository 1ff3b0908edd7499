"""The hidden row ids (``_tidb_rowid``) of the rows of large frames."""
