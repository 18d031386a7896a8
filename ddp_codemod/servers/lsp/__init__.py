"""``ddp-codemod lsp``: findings and edits in an editor, over the Language Server Protocol."""
