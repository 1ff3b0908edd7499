"""The service: a process with a warm Spark session and a Kafka, whose HTTP API runs scenarios.

Posted text is hostile: ``guard`` refuses requests of other web pages and large ones, ``policy`` refuses
scenarios that would read the server or write to another Kafka.
"""
