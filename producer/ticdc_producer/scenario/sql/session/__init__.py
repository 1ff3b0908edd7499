"""A session: the statements that it runs, its settings and its tables."""
