"""The answer in the form `<analysis>...</analysis><summary>...</summary>`, in which a model thinks first."""

import re

_BEGIN_ANALYSIS = re.compile(r"<analysis\s*+>", re.IGNORECASE)
_END_ANALYSIS = re.compile(r"</analysis\s*+>", re.IGNORECASE)
_BEGIN_SUMMARY = re.compile(r"<summary\s*+>", re.IGNORECASE)
_END_SUMMARY = re.compile(r"</summary\s*+>", re.IGNORECASE)


def summary_in(text: str) -> str:
    """What *text* says apart from its analysis, trimmed: the summary, or all of it where no summary is marked.

    What breaks off is taken as it is: an analysis goes on to a whole summary behind it or else to the end, a summary to
    the end.
    """
    said = _without_analyses(text)
    begin = _BEGIN_SUMMARY.search(said)
    if begin is None:
        return _END_SUMMARY.sub("", said).strip()
    end = _END_SUMMARY.search(said, begin.end())
    return said[begin.end() : end.start() if end else len(said)].strip()


def _without_analyses(text: str) -> str:
    kept: list[str] = []
    position = 0
    while begin := _BEGIN_ANALYSIS.search(text, position):
        kept.append(text[position : begin.start()])
        end = _END_ANALYSIS.search(text, begin.end())
        if end is None:
            return "".join(kept) + _summary_behind(text, begin.end())
        position = end.end()
    return "".join([*kept, text[position:]])


def _summary_behind(text: str, position: int) -> str:
    """The rest of *text* from where a summary begins that is whole. Thoughts may well name the tag of a summary."""
    begin = _BEGIN_SUMMARY.search(text, position)
    return text[begin.start() :] if begin and _END_SUMMARY.search(text, begin.end()) else ""
