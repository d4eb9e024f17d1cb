"""Rules about tool calls: their life in the stream, their ids, their arguments."""
