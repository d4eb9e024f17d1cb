"""What telemetry says about conversations: threads of spans, facts of spans and log records, tables."""
