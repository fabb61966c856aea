"""msprun measures accelerator operators against their PyTorch reference."""

__version__ = "0.1.0"
