"""Decompress session files, split them into lines, and parse JSON records, damaged ones too."""
