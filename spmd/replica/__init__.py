"""What a step's function may call: where it runs, whose rows it has, and values that travel between replicas."""
