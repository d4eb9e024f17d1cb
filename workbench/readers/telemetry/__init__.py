"""Telemetry: spans, log records and metrics of every dialect that people have in files.

`framing` finds the JSON values of a content, `shapes` tells what each of them is, one module per
dialect turns it into rows, and `mapping`, `messages` and `log_lines` say what the rows mean for
tool calls. Attributes stay where they are in the file and are decoded on demand (`detail`).
"""
