"""Generated volume: a ``generate`` step of a scenario as Spark DataFrames.

``spec`` has the keys of the step, ``plan`` its description on the driver, and ``bind`` makes plans of specs;
none of these needs Spark. ``steps`` computes the row and the operation of each event, ``cells`` computes the
values of columns, and ``log`` combines both.
"""
