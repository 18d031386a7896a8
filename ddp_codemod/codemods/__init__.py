"""Commands for LibCST's own tool: put ``ddp_codemod.codemods`` among the modules of a project's .libcst.codemod.yaml."""
