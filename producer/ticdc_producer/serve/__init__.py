"""The service: a process with a Kafka, whose HTTP API runs scenarios in other processes that are ready.

Posted text is hostile: ``guard`` refuses requests of other web pages and large ones, ``policy`` refuses
scenarios that would read the server or write to another Kafka.
"""
