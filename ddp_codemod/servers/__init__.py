"""Servers for coding agents and editors: thin layers over what the command line uses, each behind an extra of its own."""
