"""Tools for testing a consumer: a pytest plugin and Hypothesis strategies.

Large libraries are imported only when a fixture or a strategy is used, because pytest loads the plugin in
every project of an environment that has this package.
"""
