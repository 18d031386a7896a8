"""``ddp-codemod mcp``: the tool's hands for coding agents, over the Model Context Protocol."""
