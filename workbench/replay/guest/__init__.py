"""What runs inside a foreign environment: one arm, step by step.

It uses the standard library and what the environment has, never the workbench. The host speaks
to it in JSON lines (`main`), and it writes every step into a folder (`recorder`).
"""
