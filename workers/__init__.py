"""The workers: one file each, found by looking in this package."""
