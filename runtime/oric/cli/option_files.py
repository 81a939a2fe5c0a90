"""Options files: words of a command line in a file, as ptxas reads them (observed: 13.0.88).

Words are separated by white space. Between double quotes white space belongs to the word; a backslash makes white space that
follows it part of the word and drops a double quote. There are no comments, and single quotes are characters like others.
"""

from __future__ import annotations

_DEEPEST = 32  # files within files


def expand(name: str, files: tuple[str, ...], error: type[Exception]) -> list[str]:
    """The words of an options file that stands in ``files``; a folder has none.

    Raises:
        error: it cannot be read, includes itself, or a quote is not closed.
    """
    if len(files) >= _DEEPEST:
        raise error(f"Too many options file opened '{name}'")
    try:
        with open(name, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except IsADirectoryError:
        return []
    except OSError as problem:
        raise error(f"Could not open options file '{name}'") from problem
    return split_words(text, error)


def split_words(text: str, error: type[Exception]) -> list[str]:
    """The words of a text.

    Raises:
        error: a quote is not closed.
    """
    words: list[str] = []
    word: list[str] | None = None
    quoted = False
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character == '"':
            quoted = not quoted
            word = word or []
        elif character == "\\" and at < len(text):
            word = word or []
            if text[at] != '"':
                word.append(text[at])
            at += 1
        elif character.isspace() and not quoted:
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = word or []
            word.append(character)
    if quoted:
        raise error("Stray '\"' character")
    if word is not None:
        words.append("".join(word))
    return words
