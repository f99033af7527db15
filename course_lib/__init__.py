"""Self-attention in a few short files: one file, one room. Start reading in attention.py."""
