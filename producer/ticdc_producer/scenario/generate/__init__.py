"""Generated volume: a ``generate`` step of a scenario as Spark DataFrames.

``form`` is the step's form, ``plan`` what the driver knows of it, ``bind`` makes one of the other; none of
these needs Spark. ``steps`` says which row each event touches and how, ``cells`` fills the columns, ``log``
puts both together.
"""
