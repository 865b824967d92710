"""Language-model providers: the `PROVIDER` of each module, under the module's name."""
