"""``changes`` steps: DataFrames whose rows are changes of tables, or statements.

A small DataFrame comes to this process and runs in the SQL session, with all of its rules. The pages
``docs/python.md#your-own-dataframes`` and ``docs/scenarios.md#changes-in-a-dataframe`` describe its columns.
"""
