"""Approved calls to tools that a context provider injects are lost in the AG-UI transport."""
