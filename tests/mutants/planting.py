"""A copy of a source file in which the fault is chosen at run time: sources hold no hooks for it.

The body of a function with faults is there once for each fault and once as it was:

    { if (::chime_planted::is(3)) { body with fault 3 } else { body } }

A whole body, because the text that a fault replaces may be half of an expression or may declare what is used below it.
planted_fault.hpp, which the compiler includes first, says which fault is chosen.
"""

import re


class NotInAFunction(Exception):
    """The fault cannot be chosen at run time: it needs a copy of its own."""


def switchable(text, faults):
    """Returns the copy. `faults`: {number: (search, replace)}; each `search` is in the text exactly once."""
    bodies = {}
    for number, (search, replace) in faults.items():
        begin, end = place_of(text, search)
        body = function_body(text, begin, end)
        if body is None:
            raise NotInAFunction(search)
        bodies.setdefault(body, []).append((number, begin, end, replace))
    for (opened, closed), faults_within in sorted(bodies.items(), reverse=True):
        variants = "".join(
            f"if (::chime_planted::is({number})) {{{text[opened + 1:begin]}{replace}{text[end:closed]}}} else "
            for number, begin, end, replace in faults_within)
        text = f"{text[:opened + 1]} {variants}{text[opened:closed + 1]} {text[closed:]}"
    return text


def place_of(text, search):
    """Returns the begin and end of `search`, without the white space around it: that may be another line's."""
    begin = text.index(search) + len(search) - len(search.lstrip())
    return begin, begin + len(search.strip())


def function_body(text, begin, end):
    """Returns the places of the braces of the outermost function around text[begin:end]; None if it is in none."""
    open_braces, head = [], 0
    code = only_code(text)
    for at, character in enumerate(code):
        if character == "{":
            open_braces.append((at, opens_function(code[head:at])))
        elif character == "}":
            opened, is_function = open_braces.pop()
            is_outermost = not any(inside for _, inside in open_braces)
            if is_function and is_outermost and opened < begin and end <= at:
                return opened, at
        if character in "{};":
            head = at + 1
    return None


def only_code(text):
    """The text with comments, strings and preprocessor lines blanked, each character at its place."""
    comment = r"//[^\n]*|/\*(?:.|\n)*?\*/"
    string = r'R"(?P<raw>[^(\s]*)\((?:.|\n)*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"'
    character = r"(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"  # and no separator of digits
    directive = r"^[ \t]*#(?:\\\n|[^\n])*"
    return re.sub(f"{comment}|{string}|{character}|{directive}",
                  lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.MULTILINE)


def opens_function(head):
    """Whether a brace after these words opens the body of a function, not a class, a namespace or an initialiser."""
    return ")" in re.sub(r"\balignas\s*\([^)]*\)", "", head)
