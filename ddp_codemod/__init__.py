"""ddp-codemod: port PyTorch distributed code between platforms."""

__version__ = "0.1.0"
