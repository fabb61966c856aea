"""How fast msprun itself is: each figure stands beside the plain program that it is compared with, in the same run."""
