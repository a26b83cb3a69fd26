"""Commands on a file, read at once or in pieces."""

from typer.testing import CliRunner

from toprank.app.cli import app


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def fitted(file, folder, *options):
    """The same fit, in memory and streamed."""
    models = []
    for way in ("--in-memory", "--stream"):
        path = folder / f"{way}.toprank"
        named = ("--target", "state", "--positive", "ill", "--ignore", "number")
        run("fit", file, *named, *options, "--budget", "50", way, "-o", path, "--quiet")
        models.append(path)
    return models
