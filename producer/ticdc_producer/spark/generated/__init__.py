"""The stages of ``pipeline`` for generated rows, which come as Spark's columns, as Spark expressions.

No transaction has two changes of one generated row, so these rows need no shuffle by row key, and the way to
Python and back would cost more than these stages. A test compares the two.
"""
