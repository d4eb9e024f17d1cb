"""Commands that have a module of their own; `cli` mounts them."""
