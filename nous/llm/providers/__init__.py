"""Language-model providers, one file each; the module's name is the provider's name.

Each module defines a `PROVIDER`.
"""
