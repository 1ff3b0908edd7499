"""Masking: rules give columns of topics and dumps other values, equal ones for equal ones."""
