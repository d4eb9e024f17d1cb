"""Payloads against the thread: what got lost or changed on the way to the model."""
