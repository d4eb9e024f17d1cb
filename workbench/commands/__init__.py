"""Commands with a module of their own; `cli` mounts them and imports each only when it is called."""
