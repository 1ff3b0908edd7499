"""The level ``restart``: the consumer is stopped in the middle of a topic, and started again."""
