"""Laws of recall."""

from builders.knowing import nothing, taught
from hypothesis import given
from hypothesis import strategies as st

from nous.context.notes import is_trivial
from nous.embedding.hashing import HashingEmbedder
from nous.retrieval.query import asked, files_named, parts, touched
from nous.retrieval.search import Corpus, ScopeIndex, search
from nous.retrieval.word_index import WordIndex, terms

anything = st.text(st.characters(codec=None), max_size=80)
texts = st.lists(anything, min_size=1, max_size=6, unique=True)
segments = st.lists(st.from_regex(r"[a-z_]{1,6}(\.[a-z]{1,3})?", fullmatch=True), min_size=1, max_size=4)


@given(texts, anything)
def test_any_text_can_be_indexed_and_asked_for(indexed: list[str], query: str) -> None:
    index: WordIndex[str] = WordIndex()
    index.extend((text, text) for text in indexed)

    matches = index.search(query, 10)

    assert len({match.key for match in matches}) == len(matches)
    assert all(0 < match.share <= 1 + 1e-9 and match.terms for match in matches)
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)
    assert isinstance(is_trivial(query), bool)


@given(st.lists(st.from_regex(r"[a-z]{3,9}[0-9]{1,3}", fullmatch=True), min_size=1, max_size=5, unique=True))
def test_a_text_is_found_by_each_of_its_rare_words(words: list[str]) -> None:
    index: WordIndex[str] = WordIndex()
    index.extend([("it", " ".join(words)), ("other", "something else")])

    assert all([match.key for match in index.search(word, 5)] == ["it"] for word in words)


@given(segments, segments)
def test_a_file_is_named_by_the_end_of_its_path_and_by_no_part_of_a_name(folder: list[str], name: list[str]) -> None:
    path = "/".join((*folder, *name))

    assert touched([parts("/".join(name))], [path]) == (path,)
    assert touched([parts("/".join(name))], ["/".join(f"x{part}" for part in name)]) == ()


@given(anything)
def test_nothing_of_dots_is_left_in_a_named_path(text: str) -> None:
    assert all(part not in {"", ".", ".."} for path in files_named(text) for part in path)
    assert all(" " not in term for term in terms(text))


@given(texts, anything)
def test_a_search_finds_each_thing_once_and_best_first(known: list[str], query: str) -> None:
    knowledge = nothing()
    taught(knowledge, *(text.encode("utf-8", "replace").decode() for text in known))

    hits = search(asked(query, HashingEmbedder().embed), Corpus(scope_index=ScopeIndex(knowledge)))

    assert len({hit.id for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.found_by for hit in hits)
