"""Decisions on local tools that the Responses connector sends as MCP approvals."""
