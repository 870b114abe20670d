"""What is measured: each function prepares a program, and returns what it is and its turn."""
