"""Payloads and histories: what goes to a model provider, in the dialect of each, as turns of blocks.

One dialect, one file; `dialects` tells them apart and `formats` finds them in files.
"""
