"""Texts that nest: expressions, statements and configuration files, each as a function of its depth."""

from __future__ import annotations

from collections.abc import Callable

Shape = Callable[[int], str]

EXPRESSIONS: dict[str, Shape] = {
    "brackets": lambda n: "(" * n + "1" + ")" * n,
    "lists": lambda n: "[" * n + "]" * n,
    "dictionaries": lambda n: "{1:" * n + "1" + "}" * n,
    "lambdas": lambda n: "lambda:" * n + "1",
    "sum": lambda n: "1" + "+1" * n,
    "powers": lambda n: "1" + "**1" * n,
    "attributes": lambda n: "a" + ".b" * n,
    "subscripts": lambda n: "a" + "[0]" * n,
    "calls": lambda n: "f" + "()" * n,
    "minus signs": lambda n: "-" * n + "1",
    "negations": lambda n: "not " * n + "1",
    "conditions": lambda n: "1 if 1 else " * n + "1",
    "alternatives": lambda n: "1 or " * n + "1",
    "comparisons": lambda n: "1<" * n + "1",
    "strings": lambda n: '"a" ' * n,
    "comprehensions": lambda n: "[x for x in " * n + "y" + "]" * n,
    "keyword arguments": lambda n: "f(a=" * n + "1" + ")" * n,
}
STATEMENTS: dict[str, Shape] = {
    "elif": lambda n: "if a:\n    pass\n" + "elif a:\n    pass\n" * n,
    "else if": lambda n: (
        "".join("  " * i + "if a:\n" + "  " * i + "  pass\n" + "  " * i + "else:\n" for i in range(n)) + "  " * n + "pass\n"
    ),
    "blocks": lambda n: "".join(" " * i + "if a:\n" for i in range(n)) + " " * n + "pass\n",
    "assignments": lambda n: "a = " * n + "1\n",
}
YAML: dict[str, Shape] = {
    "flow lists": lambda n: "[" * n + "]" * n + "\n",
    "flow maps": lambda n: "{a: " * n + "1" + "}" * n + "\n",
    "block maps": lambda n: "".join(" " * i + "a:\n" for i in range(n)),
    "block lists": lambda n: "- " * n + "1\n",
    "open brackets": lambda n: "[" * n + "\n",
}
JSON: dict[str, Shape] = {
    "arrays": lambda n: "[" * n + "]" * n,
    "objects": lambda n: '{"a":' * n + "1" + "}" * n,
    "open arrays": lambda n: "[" * n,
}
TOML: dict[str, Shape] = {
    "arrays": lambda n: "a = " + "[" * n + "]" * n + "\n",
    "inline tables": lambda n: "a = " + "{a = " * n + "1" + "}" * n + "\n",
    "dotted keys": lambda n: "a" + ".a" * n + " = 1\n",
    "tables": lambda n: "[a" + ".a" * n + "]\nb = 1\n",
}
SHELL: dict[str, Shape] = {
    "substitutions": lambda n: "a=" + "$(echo " * n + ")" * n + "\n",
    "subshells": lambda n: "(" * n + "a" + ")" * n + "\n",
    "quotes": lambda n: 'a="' + '$(echo "' * n + '")' * n + '"\n',
    "ifs": lambda n: "if a; then\n" * n + "b\n" + "fi\n" * n,
    "pipes": lambda n: "a | " * n + "a\n",
    "braces": lambda n: "a=" + "${b:-" * n + "}" * n + "\n",
}
