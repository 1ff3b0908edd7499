"""The Spark session, background jobs, and Spark's errors as messages for users."""
