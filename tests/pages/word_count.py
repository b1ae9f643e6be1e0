"""Counts the words that a page delivers in its `<main>`: folded, unseen and option texts count too."""

from html.parser import HTMLParser

SILENT = {"script", "style", "template", "noscript"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

RELEASE = 220  # the most of a release's page, of every kind, state and reader; its tables apart


class _Main(HTMLParser):
    def __init__(self, apart):
        super().__init__()
        self.apart, self.path, self.text = apart, [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.path.append((tag, dict(attrs).get("id")))

    def handle_endtag(self, tag):
        while any(name == tag for name, _ in self.path) and self.path.pop()[0] != tag:
            pass

    def handle_data(self, data):
        names, ids = {name for name, _ in self.path}, {given for _, given in self.path}
        if "main" in names and not names & SILENT and not ids & self.apart:
            self.text.append(data)


def words_of(page, *, apart=()):
    """The words of a page's `<main>`, but for elements with these ids."""
    main = _Main(set(apart))
    main.feed(page)
    return " ".join(main.text).split()


def released_words(page):
    """The words of a release's page without its tables."""
    return words_of(page, apart={"map-table"})
