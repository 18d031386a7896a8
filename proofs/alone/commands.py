"""Stands in for a library of command lines: a decorator keeps the function, and ``run`` calls it."""

KEPT = []


def command(name=None):
    def keep(function):
        KEPT.append(function)
        return function

    return keep


def run(*given):
    for function in KEPT:
        function(*given)
