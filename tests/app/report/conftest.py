"""A run to tell of, and a real browser, driven over its own debugging pipe: no network."""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from toprank.app.report.page import ShortlistTable, draw_picture
from toprank.plots import precision_curve
from toprank.selection import LabelledRows, RankerComparison

try:
    import fcntl
except ImportError:  # Windows, where the browser is not driven
    fcntl = None

EVIL = "<script>alert('x')</script> & \"quotes\""
CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)


class Browser:
    """One page of Chromium; every console message and request is remembered."""

    def __init__(self, profile):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        # Numbers far from 3 and 4, so that neither is overwritten while they are put there.
        far = [fcntl.fcntl(each, fcntl.F_DUPFD, 20) for each in (to_browser, from_browser)]

        def wire():
            os.dup2(far[0], 3)
            os.dup2(far[1], 4)

        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        flags += ["--disable-background-networking", "--disable-component-update"]
        self._process = subprocess.Popen(
            [CHROMIUM, *flags, "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            preexec_fn=wire,  # noqa: PLW1509 (the pipe's file numbers are fixed)
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in (to_browser, from_browser, *far):
            os.close(each)
        self._number, self._session, self._rest = 0, None, b""
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self._rest:
            block = os.read(self._in, 1 << 20)
            assert block, "the browser has gone"
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        self.wait_until("document.readyState === 'complete'")

    def wait_until(self, condition):
        """Wait for what a page does later, such as filtering once typing has paused."""
        patience = time.monotonic() + 120
        while not self.js(condition):
            assert time.monotonic() < patience, f"never true: {condition}"
            time.sleep(0.02)

    def js(self, expression):
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def click(self, selector):
        """A real click of the mouse in the middle of an element."""
        self.js(
            f"document.querySelector({selector!r})"
            ".scrollIntoView({block: 'center', behavior: 'instant'})"
        )
        x, y = self.js(
            f"(() => {{const r = document.querySelector({selector!r}).getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector, text):
        self.js(f"document.querySelector({selector!r}).focus()")
        self.call("Input.insertText", text=text)

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def picture(self, path, *, scheme="light", media="screen", width=1000):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """What the console said, and every request that was not for the page itself."""
        said = [e["params"] for e in self.events if e.get("method") == "Runtime.consoleAPICalled"]
        said += [e["params"] for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        said += [e["params"] for e in self.events if e.get("method") == "Log.entryAdded"]
        asked = [
            url
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
            and not (url := e["params"]["request"]["url"]).startswith(("file:", "data:"))
        ]
        return said + asked

    def serious_issues(self, page, prepare=""):
        """What axe-core finds on a page in light and dark, once ``prepare`` has been clicked."""
        source = Path(os.environ.get("TOPRANK_AXE", ""))
        if not source.is_file():
            pytest.skip("TOPRANK_AXE names no axe.min.js")
        self.open(page)
        if prepare:
            self.click(prepare)
        found = []
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            self.call("Emulation.setEmulatedMedia", features=features)
            self.js(source.read_text(encoding="utf-8") + ";0")
            found += self.js(
                "axe.run().then(r => r.violations.filter(v => ['serious', 'critical']"
                ".includes(v.impact)).map(v => v.id + ': ' + v.nodes.map(n => n.target).join(' ')))"
            )
        return found

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if CHROMIUM is None or os.name == "nt":
        pytest.skip("no chromium on this machine")
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


def make_comparison():
    """Two rankers of 40 rows: the push has every positive above every negative."""
    labels = np.arange(40) % 2 == 0
    scores = {"plain": np.arange(40.0), "push": np.arange(40.0) + 50 * labels}
    rows = LabelledRows(np.zeros((40, 1)), labels)
    return RankerComparison(rows=rows, scores=scores, budget=10)


@pytest.fixture
def run():
    """What the page about a comparison is made of."""
    comparison = make_comparison()

    def draw(figure: Figure) -> None:
        scores = {EVIL: comparison.scores["push"]}
        precision_curve(comparison.rows.positives, scores, ax=figure.subplots())

    return {
        "title": f"Title {EVIL}",
        "name": EVIL,
        "positive": EVIL,
        "n_rows": 80,
        "ranked": {EVIL: EVIL, "Source": EVIL},
        "found": comparison,
        "verdict": EVIL,
        "contestants": {"plain": EVIL, "push": "pushes"},
        "focus": "push",
        "shortlist": ShortlistTable(
            caption=EVIL, columns=("Place", EVIL), rows=(("1", EVIL), ("2", "b"))
        ),
        "pictures": [
            draw_picture(draw, title=f"{number} {EVIL}", caption=EVIL, alt=EVIL)
            for number in range(2)
        ],
        "settings": {EVIL: EVIL},
    }
