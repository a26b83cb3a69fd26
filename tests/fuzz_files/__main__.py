"""Give damaged and hostile files to every command: ``python tests/fuzz_files N SEED``."""

import argparse
import itertools
import json
import os
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import attacks
import faults
import files
import numpy as np
from cases import commands_on_model, commands_on_table, problems_of, set_up
from server import run, warm_up

PROBLEMS = (
    *("traceback", "crash", "hang", "memory", "output lost", "input changed", "no sentence"),
    *("escape", "files left", "other"),
)
RANKERS = {
    "pnorm-push": [],
    "rankboost": ["--set", "max_iter=20"],
    "trees": ["--set", "n_trees=5"],
    "random-forest": ["--set", "n_trees=5"],
    "blend": [],
}


class Tally:
    """Counts of files, commands and endings by kind of file, and what went wrong."""

    def __init__(self):
        self.counts = defaultdict(Counter)
        self.failures = []

    def add(self, kind, done, problems, what):
        counts = self.counts[kind]
        counts["commands"] += 1
        counts["done" if not done.code and not done.signal else "refused"] += 1
        counts["megabytes"] = max(counts["megabytes"], done.megabytes)
        for problem in problems:
            counts[problem if problem in PROBLEMS else "other"] += 1
        if problems:
            last = (done.said.strip().split("\n") or [""])[-1][:200]
            self.failures.append(f"{', '.join(problems)}: {what}: {last}")
            sys.stderr.write(f"{self.failures[-1]}\n")

    def take(self, others):
        """Add the counts of another process."""
        counts, failures = others
        for kind, theirs in counts.items():
            most = max(self.counts[kind]["megabytes"], theirs.pop("megabytes", 0))
            self.counts[kind].update(theirs)
            self.counts[kind]["megabytes"] = most
        self.failures += failures

    def table(self):
        """The counts as a table in Markdown; problems that never came are left out."""
        seen = [p for p in PROBLEMS if any(counts[p] for counts in self.counts.values())]
        heads = ["kind", "files", "commands", "done", "refused or ended", *seen, "most MB"]
        rows = [
            [
                kind,
                *(counts[each] for each in ("files", "commands", "done", "refused", *seen)),
                round(counts["megabytes"]),
            ]
            for kind, counts in self.counts.items()
        ]
        total = ["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:-1])]
        rows.append([*total, max(row[-1] for row in rows)])
        lines = [heads, ["---"] + ["--:"] * (len(heads) - 1), *rows]
        return "\n".join(
            "| " + " | ".join(f"{v:,}" if isinstance(v, int) else str(v) for v in line) + " |"
            for line in lines
        )


class Suite:
    """Whole files, a folder for each command, and the tally."""

    def __init__(self, home, seed, *, is_short):
        self.home, self.seed, self.tally = home, seed, Tally()
        self.rankers = dict(list(RANKERS.items())[: 2 if is_short else None])
        self.folder = home / "here"
        self.folder.mkdir()
        self.whole = files.tables()
        for name, content in self.whole.items():
            (home / name).write_bytes(content)
        self.table = home / "table.csv"
        self.model = home / "pnorm-push.toprank"
        self.sparse = home / "sparse.toprank"

    def warm_up(self):
        """Fit a model of each kind, and run every command once."""
        fit = ["fit", self.table, "--target", "t", "--budget", "5", "-q", "-o"]
        calls = [
            [*fit, self.home / f"{name}.toprank", *self.ranker(name), *settings]
            for name, settings in self.rankers.items()
        ]
        rows = self.home / "rows.libsvm"
        push = ["--ranker", "pnorm-push"]
        calls.append(["fit", rows, *push, "--budget", "5", "-q", "-o", self.sparse])
        calls += [c.arguments for c in commands_on_table(str(self.table), self.model, 0)]
        calls += [
            c.arguments
            for name in self.rankers
            for c in commands_on_model(self.home / f"{name}.toprank", self.table, 0)
        ]
        warm_up(calls, self.folder)

    @staticmethod
    def ranker(name):
        names = ["logistic", "pnorm-push"] if name == "blend" else [name]
        return [word for each in names for word in ("--ranker", each)]

    def give(self, kind, name, content, commands, what=""):
        """Give a file to commands and judge each."""
        self.tally.counts[kind]["files"] += 1
        content = content() if callable(content) else content
        for command in commands:
            set_up(self.folder, command, content)
            done = run(command.arguments, self.folder)
            problems = problems_of(self.folder, command, content, done)
            words = " ".join(map(str, command.arguments))
            self.tally.add(kind, done, problems, f"{name} {what} {words}")

    def fork(self, job, numbers):
        """Damage these files in a process of its own, which leaves its counts in a file."""
        path = self.home / f"tally {job}"
        child = os.fork()
        if child:
            return child, path
        self.folder, self.tally = self.home / f"here {job}", Tally()
        self.folder.mkdir()
        try:
            self.damage(numbers)
        finally:
            path.write_text(json.dumps([self.tally.counts, self.tally.failures]))
            os._exit(0)

    def model_for(self, name):
        return self.sparse if name.endswith(("libsvm", "letor")) else self.model

    def damage(self, numbers):
        """Seeded damage: two thirds tables, one third models."""
        names, models = list(self.whole), list(self.rankers)
        for number in numbers:
            rng = np.random.default_rng([self.seed, number])
            what = f"(seed {self.seed}, number {number})"
            if number % 3:
                name = names[(number - number // 3 - 1) % len(names)]  # every format in turn
                content = files.damaged_table(self.whole, name, rng)
                commands = commands_on_table(name, self.model_for(name), number)
                self.give(name.split(".", 1)[1], name, content, commands, what)
            else:
                name = models[number // 3 % len(models)]
                whole = (self.home / f"{name}.toprank").read_bytes()
                content = files.damaged_model(whole, rng)
                commands = commands_on_model("model.toprank", self.table, number)
                self.give("model", name, content, commands, what)

    def attack(self, every):
        """Files made on purpose; of the short form some of them."""
        for number, (name, content) in enumerate(attacks.tables().items()):
            if number % every == every // 2:
                commands = commands_on_table(name, self.model_for(name), number)
                self.give("attack: tables", name, content, commands)
        for number, (name, content) in enumerate(attacks.models(self.model.read_bytes()).items()):
            if number % every == every // 2:
                commands = commands_on_model("model.toprank", self.table, number)
                self.give("attack: models", name, content, commands)

    def fail(self, kind, command, content, allowed, what, **fault):
        done, problems = faults.check_fault(self.folder, command, content, allowed, **fault)
        words = " ".join(map(str, command.arguments))
        self.tally.add(kind, done, problems, f"{what} {words}")
        return done

    def kill(self, n_each):
        """Kills at every step in the file system, and at bytes of what is written."""
        rng = np.random.default_rng([self.seed, 1 << 40])
        for command, content in faults.writing_commands(self.model, self.table):
            for step in range(1, n_each + 1):
                prepare = faults.killed_at_step(step, command.writes)
                what = f"killed at step {step}:"
                done = self.fail("kill", command, content, (-9,), what, prepare=prepare)
                if not done.signal:
                    break
            for byte in rng.integers(0, 3000, n_each):
                for kind, fault in (
                    ("kill", faults.killed_at_byte(int(byte))),
                    ("disk full", faults.full_at_byte(int(byte))),
                ):
                    what = f"{kind} at byte {byte}:"
                    ended = (-int(signal.SIGXFSZ),)
                    self.fail(kind, command, content, ended, what, prepare=fault)

    def interrupt(self, n_each):
        """Signals at random times."""
        rng = np.random.default_rng([self.seed, 1 << 41])
        allowed = (130, -int(signal.SIGTERM), -int(signal.SIGHUP))
        for command, content in faults.writing_commands(self.model, self.table):
            for number in itertools.islice(
                itertools.cycle([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]), n_each
            ):
                delay = float(rng.uniform(0, 0.25))
                what = f"{number.name} after {delay:.3f} s:"
                self.fail("signal", command, content, allowed, what, signals=[(delay, number)])

    def resume(self, n_each):
        """Comparisons that are killed, and go on where they were."""
        compare = ["compare", self.table, "--target", "t", "--budget", "5", "--json"]
        compare += ["--no-engines", "--ranker", "pnorm-push", "--journal", "notes"]
        for path in self.folder.iterdir():
            path.unlink()
        whole = run(compare, self.folder)
        for step in range(2, 2 + 3 * n_each, 3):
            run(compare, self.folder, prepare=faults.killed_at_step(step, "notes"))
            again = run([*compare, "--resume"], self.folder)
            same = not again.code and json.loads(again.printed) == json.loads(whole.printed)
            left = [path.name for path in self.folder.iterdir()]
            problems = [] if same and not left else ["output lost"]
            self.tally.add("journal", again, problems, f"killed at step {step}: {left}")


def main():
    """Run the suite, print the table, and end with 1 if something did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_files", type=int, help="files with seeded damage")
    parser.add_argument("seed", type=int)
    parser.add_argument("--short", action="store_true", help="few attacks and faults")
    parser.add_argument("--first", type=int, default=0, help="go on with the file of this number")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the files")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in the background of a shell
    with tempfile.TemporaryDirectory() as home:
        suite = Suite(Path(home), given.seed, is_short=given.short)
        suite.warm_up()
        shares = [range(given.first + job, given.n_files, given.jobs) for job in range(given.jobs)]
        workers = [suite.fork(job, share) for job, share in enumerate(shares) if job]
        try:
            suite.damage(shares[0])
            run_faults(suite, is_short=given.short)
        finally:  # also of a run that is interrupted
            for child, path in workers:
                os.waitpid(child, 0)
                suite.tally.take(json.loads(path.read_text()))
            tally = suite.tally
            sys.stdout.write("\n".join([tally.table(), *tally.failures, ""]))
    sys.exit(1 if tally.failures else 0)


def run_faults(suite, *, is_short):
    """Kills, full disks, signals and attacks."""
    suite.kill(1 if is_short else 12)
    suite.interrupt(1 if is_short else 12)
    suite.resume(1 if is_short else 6)
    suite.attack(every=40 if is_short else 1)


if __name__ == "__main__":
    main()
