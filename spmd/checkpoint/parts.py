"""The names of what is in a checkpoint."""

ARRAYS = "arrays"
MANIFEST = "manifest.json"
# What it has in it: others have manifests of this name, too.
MARK = b"jaxtribute checkpoint"
# In a store: the folder of one attempt to save, `jaxtribute-0a1b2c3d4e5f6071`, which holds `arrays`.
# No folder of a user is called so.
DATA = "jaxtribute-"
