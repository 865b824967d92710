"""Rows of terms, scored by BM25 as the search engine Tantivy computes it."""

from collections.abc import Collection, Sequence

from tantivy import Document, Filter, Index, Occur, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

_HEAP = 15_000_000
"""Bytes that an index may take while rows are added, the least that Tantivy accepts; they are given back after."""


class Bm25:
    """Rows in memory, numbered in the order they were added. Words are found in other forms, and without accents."""

    def __init__(self) -> None:
        schema = SchemaBuilder().add_text_field("stems", tokenizer_name="whitespace", index_option="freq")
        self._schema = schema.add_integer_field("row", fast=True).build()
        self._index = Index(self._schema)
        self._searcher = self._index.searcher()
        words = TextAnalyzerBuilder(Tokenizer.whitespace())
        self._stemmer = words.filter(Filter.ascii_fold()).filter(Filter.stemmer("english")).build()
        self._rows: list[str] = []

    def __len__(self) -> int:
        return len(self._rows)

    def stems(self, terms: str) -> list[str]:
        """The stem of each of *terms*, which spaces separate. One that ends in a sign stays as it is."""
        return self._stemmer.analyze(terms)

    def add(self, rows: Collection[str]) -> None:
        """Add a row for the terms of each text."""
        if not rows:
            return
        writer = self._index.writer(_HEAP, num_threads=1)
        stemmed = [" ".join(self.stems(row)) for row in rows]
        for number, stems in enumerate(stemmed, start=len(self)):
            document = Document()
            document.add_integer("row", number)
            document.add_text("stems", stems)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        self._rows.extend(stemmed)

    def row(self, number: int) -> set[str]:
        """The stems of a row."""
        return set(self._rows[number].split(" "))

    def count(self, stem: str) -> int:
        """How many rows have *stem*."""
        return self._searcher.doc_freq("stems", stem)

    def best(self, stems: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """The *limit* rows that have any of *stems*, best first, and the BM25 of each."""
        query = Query.boolean_query([(Occur.Should, Query.term_query(self._schema, "stems", stem)) for stem in stems])
        hits = self._searcher.search(query, limit=limit, count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        scores = [float(score) for score, _ in hits]
        found = [(int(row), score) for row, score in zip(rows, scores, strict=True) if row is not None]
        return sorted(found, key=lambda each: (-each[1], each[0]))
