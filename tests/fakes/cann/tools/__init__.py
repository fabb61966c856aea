"""What the fake programs msprof and npu-smi are made of: Python 3.8, standard library."""
