"""A page as a parser of HTML sees it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.text, self.open = [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "input", "path", "use", "rect", "image"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in ("path", "use", "rect", "image"):
            return
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def every(self, name):
        return [attrs for tag, attrs in self.tags if tag == name]

    def check_nothing_points_outside(self):
        for _, attrs in self.tags:
            for name in ("href", "src", "xlink:href", "action", "data"):
                assert attrs.get(name, "#").startswith(("#", "data:")), attrs
        [policy] = [meta for meta in self.every("meta") if meta.get("http-equiv")]
        assert "default-src 'none'" in policy["content"]
        assert "script-src 'sha256-" in policy["content"]
