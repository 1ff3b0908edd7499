"""The text of a script: its statements, their words, and the trees of DML."""
