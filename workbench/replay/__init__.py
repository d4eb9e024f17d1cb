"""Replay reported bugs on the released packages, unpatched and patched.

    arm = wb.replay("provider-tool-approval", arm="unpatched", release="1.0.0rc7")
    arm.step()                      # the first turn; look at it
    arm.run().findings              # the rest of it

`engine` builds environments and runs processes in them, `guest` is what runs there, `scenarios` are the
bugs, `arms` puts them together, `compare`, `outcome` and `claims` judge.
"""
