"""Compares the SQL engine with a TiDB server: single scripts, and mutations of the recorded cases."""
