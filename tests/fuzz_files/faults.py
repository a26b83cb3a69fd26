"""Commands that are killed while they write, get signals, or find the disk full."""

import os
import resource
import signal
import sys

from cases import Command, problems_of, set_up
from server import run

STEPS = ("open", "os.rename", "os.remove", "os.chmod", "os.truncate")


def killed_at_step(number, name):
    """End a command at a step in the file system that concerns a file of this name."""

    def prepare():
        done = 0

        def step(event, arguments):
            nonlocal done
            if event in STEPS and name in str(arguments[0]):
                done += 1
                if done == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(step)

    return prepare


def killed_at_byte(number):
    """End a command when a file that it writes reaches a size."""

    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        full_at_byte(number)()

    return prepare


def full_at_byte(number):
    """Let no file grow beyond a size: an error, as on a full disk."""

    def prepare():
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (number, most))

    return prepare


def writing_commands(model, table):
    """Commands that write, with what they read."""
    fit = ["fit", "in", "--target", "t", "--ranker", "pnorm-push", "--budget", "5", "--json"]
    content = table.read_bytes()
    return [
        (Command([*fit, "-o", "out.toprank"], "in", "out.toprank"), content),
        *(
            (Command(["rank", model, "in", "-o", name, "--json", "--force"], "in", name), content)
            for name in ("out.csv", "out.parquet", "out.csv.gz")
        ),
        (
            Command(
                ["report", model, "in", "--no-push-path", "-o", "out.html", "--json"],
                *("in", "out.html"),
            ),
            content,
        ),
    ]


def check_fault(folder, command, content, allowed, **fault):
    """What does not hold after a command with a fault, and after the next one without."""
    set_up(folder, command, content)
    done = run(command.arguments, folder, **fault)
    found = problems_of(folder, command, content, done, allowed)
    again = run(command.arguments, folder)
    later = problems_of(folder, command, content, again)
    if again.code or later:
        found.append(f"not the next time ({', '.join(later) or again.said.strip()})")
    return done, found
