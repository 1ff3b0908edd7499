"""The tasks of the service, and the processes in which they run."""
