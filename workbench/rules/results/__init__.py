"""Rules about the results of tool calls."""
