"""Shared code of the tests here: a copy of scripts/, programs that play others, and checks that print their input."""

import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile

NOBODY = 65534
CHOSEN = ("PRESET", "TARGETS", "LABELS", "SKIP_LABELS", "TIMES", "CONFIGURE", "BUILD_FOLDER", "JOBS")


class Stage:
    """A folder <root>/project with the project's scripts, and <root>/bin, first in PATH."""

    def __init__(self, source):
        self.folder = tempfile.TemporaryDirectory(prefix="chime-scripts-")
        root = pathlib.Path(self.folder.name)
        root.chmod(0o755)
        self.project, self.bin = root / "project", root / "bin"
        self.project.mkdir()
        self.bin.mkdir()
        shutil.copytree(pathlib.Path(source) / "scripts", self.project / "scripts")
        shutil.copy(pathlib.Path(source) / "CMakePresets.json", self.project)
        self.failures = []
        self.count = 0

    def play(self, name, script):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def environment(self, extra):
        # Without the settings of the caller's environment: .ci/run has some.
        own = {name: value for name, value in os.environ.items() if name not in CHOSEN}
        return {**own, "PATH": f"{self.bin}:{os.environ['PATH']}", "LC_ALL": "C", **extra}

    def run(self, *command, user=None, **extra):
        """`user`: the user who runs it, if this test runs as root."""
        return subprocess.run([str(word) for word in command], cwd=self.project, env=self.environment(extra),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, check=False,
                              **({"user": user, "group": user, "extra_groups": []} if user else {}))

    def on_terminal(self, *command, **extra):
        """Returns its output to a terminal."""
        mine, its = pty.openpty()
        process = subprocess.Popen([str(word) for word in command], cwd=self.project, env=self.environment(extra),
                                   stdin=its, stdout=its, stderr=its)
        os.close(its)
        text = b""
        try:
            while piece := os.read(mine, 4096):
                text += piece
        except OSError:  # EIO: the other end is closed
            pass
        os.close(mine)
        process.wait(timeout=60)
        return text.decode()

    def true(self, fact, what):
        self.count += 1
        if not fact:
            self.failures.append(what)

    def says(self, done, *words):
        for word in words:
            self.true(word in done.stdout, f"'{word}' is not in:\n{done.stdout}")

    def silent_of(self, done, *words):
        for word in words:
            self.true(word not in done.stdout, f"'{word}' is in:\n{done.stdout}")

    def explains_itself(self, script, usage):
        """With --help it prints its usage on stdout, calls no program, and succeeds."""
        for option in ("-h", "--help"):
            done = self.run("bash", "-c", f"{script} {option} 2>/dev/null")
            self.true(done.returncode == 0, f"{script} {option} ended with {done.returncode}:\n{done.stdout}")
            self.says(done, usage)
            self.silent_of(done, "#", "== ", "installing")

    def finish(self):
        for failure in self.failures:
            print("FAILED", failure)
        print(f"{self.count - len(self.failures)} of {self.count} checks hold")
        sys.exit(1 if self.failures or not self.count else 0)
