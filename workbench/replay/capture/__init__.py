"""From a recorded conversation to a replay of it on any release.

`exchanges` are what a capture has of a conversation; `model`, `tools` and `client` read in them what the
model said, which tools there are and what the client sent, each with its `assumptions`; `derive` makes a
scenario of it. `readings` lists what the capture leaves open; `calibrate` runs each reading on the release of the
recording and keeps those that give the same events (`normal`). `judge` runs what is kept on another release, and
`verdicts` says of each finding whether it is there. `file` is the scenario that a maintainer keeps.

`docs/replay-from-capture.md` tells it from the user's side.
"""
