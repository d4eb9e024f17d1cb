"""What is told about a check: text, Markdown for an issue, the notebook and its HTML page."""
