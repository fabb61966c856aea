"""The frozen values that travel through a run."""
