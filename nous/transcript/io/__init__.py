"""From bytes to records: unpacked, split into lines, recovered where they are damaged."""
