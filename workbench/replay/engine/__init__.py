"""Build environments of released packages and run arms in them.

`environments` builds, `guest` runs a process there, `requirements` and `releases` say what is installed,
`uv` and `interpreters` find the tools for it. Nothing here knows a bug or a rule.
"""
