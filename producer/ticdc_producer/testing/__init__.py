"""For those who test a consumer: a pytest plugin and Hypothesis strategies.

Nothing heavy is imported until a fixture or a strategy is used: pytest loads the plugin in every project
of an environment that has this package.
"""
