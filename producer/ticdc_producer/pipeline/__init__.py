"""Change log to event stream: the rules of each stage, as pure functions on Arrow batches.

The order of the stages is: commit, mutations, split, dispatch, control events, delivery order. An engine runs
the functions on the parts of a dataset (``simulate.stream``). The metadata of tables comes from the catalog.
"""
