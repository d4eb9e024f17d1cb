"""Agent Spec over AG-UI: the second turn after a server tool is refused by the provider."""
