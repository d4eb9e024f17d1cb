"""`python -m workbench` is the command `workbench`."""

from workbench.cli import entry

if __name__ == "__main__":
    entry()
