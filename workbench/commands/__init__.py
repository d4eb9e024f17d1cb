"""Commands of `workbench` that have a module of their own; `workbench.cli` mounts them."""
