"""The functions of `tf.*`, by subject."""
