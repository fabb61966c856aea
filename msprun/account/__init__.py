"""From a stream of kernels to what each call took: borders matched against the known schedule, and a verdict."""

from msprun.account.session import account

__all__ = ["account"]
