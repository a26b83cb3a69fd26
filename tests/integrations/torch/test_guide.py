"""The guide to PyTorch does what it says."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "torch.md"


def test_the_guide_runs_as_printed():
    text = PAGE.read_text(encoding="utf-8")
    blocks = r"^```{code-block} pycon\n(.*?)^```$"
    code = "".join(re.findall(blocks, text, flags=re.DOTALL | re.MULTILINE))
    example = doctest.DocTestParser().get_doctest(code, {}, "torch.md", str(PAGE), 0)
    runner = doctest.DocTestRunner()
    said = []
    runner.run(example, out=said.append)
    assert not said, "".join(said)
    assert runner.summarize(verbose=False).attempted > 5
