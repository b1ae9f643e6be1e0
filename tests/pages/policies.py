"""Content security policies of answers."""


def directives(answer):
    """Directive -> sources. The order of directives is any, and another one in each process."""
    parts = (part.strip().partition(" ") for part in answer["Content-Security-Policy"].split(";"))
    return {name: sources for name, _, sources in parts}
