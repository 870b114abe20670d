"""Results recorded from TensorFlow, and what runs the same cases here; see `scenarios` and `record`."""
