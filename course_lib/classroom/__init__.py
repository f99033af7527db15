"""What a teacher needs besides the notebooks."""
