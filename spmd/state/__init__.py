"""What a step may change: variables of any library, found, read and written as a flat list of arrays."""
