"""Turn bytes into records: decompress, split into lines, recover damaged content."""
