"""Rules about MESSAGES_SNAPSHOT against what was known before it."""
