"""The HTML report: one file that works without network, in light and dark, on paper and with a keyboard."""
