"""Rules about the event schema of both protocol generations."""
