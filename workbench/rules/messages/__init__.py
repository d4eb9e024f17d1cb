"""Rules about streamed messages: open, content, close, ids."""
