"""Captures without what is somebody's: `redact` exchanges texts, ids and numbers and keeps the fault."""
