"""The Spark session, background jobs, and what Spark's errors mean to a user."""
