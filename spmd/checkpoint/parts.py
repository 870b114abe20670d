"""The names of what is in a checkpoint."""

ARRAYS = "arrays"
MANIFEST = "manifest.json"
# In a store: the folder of one attempt to save, `data-0a1b2c3d4e5f6071`, which holds `arrays`.
DATA = "data-"
