"""Generated volume: the changes of a ``generate`` step of a scenario as Arrow batches.

``spec`` has the keys of the step, ``plan`` its description on the driver, and ``binding`` makes plans of
specs. ``events`` computes the row of each change, ``row_history`` its effect on the row, and ``cells`` the
values of columns; ``changes`` combines them. Only ``expressions`` needs Spark.
"""
