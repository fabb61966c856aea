"""How much one call has to move and to compute: the expressions of `op.work`, read and evaluated as data."""
