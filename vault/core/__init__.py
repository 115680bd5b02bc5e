"""Plain functions and types: no Django, no I/O, no SDK."""
