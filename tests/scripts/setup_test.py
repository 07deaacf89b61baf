"""scripts/setup installs quietly, says that it does, and shows apt's words when it cannot."""

import sys

from stage import Stage

CHATTER = "debconf: delaying package configuration, since apt-utils is not installed"
# apt-get's output for two installed packages.
APT_GET = f"""
echo "$*" >>"$CALLS"
[ "$STATUS" = 0 ] || {{ echo "E: Unable to fetch http://mirror/g++ 404"; exit "$STATUS"; }}
echo "0 upgraded, 2 newly installed, 0 to remove and 3 not upgraded."
echo "Get:1 http://mirror bookworm/main amd64 g++"; echo "Get:2 http://mirror bookworm/main amd64 cmake"
echo "{CHATTER}" >&2
for package in g++ cmake; do echo "Unpacking $package (1.0) ..."; done
for package in g++ cmake; do echo "Setting up $package (1.0) ..."; sleep "$SLOWNESS"; done
"""


def main():
    stage = Stage(sys.argv[1])
    calls = stage.project / "calls"
    stage.play("dpkg-query", "echo installed none")
    stage.play("apt-cache", 'case $1 in madison) echo "$2 | 1.0 | http://mirror" ;; policy) echo "  Candidate: 3.25.1" ;; esac')
    stage.play("apt-get", APT_GET)
    stage.play("cmake", "echo cmake version 3.25.1")
    stage.play("sudo", '[ "$1" != -n ] || shift; exec "$@"')

    stage.explains_itself("scripts/setup", "  scripts/setup [build|multi-host|ci|soak]")
    stage.true(not calls.exists(), "apt-get was called for a help")

    quick = {"CALLS": str(calls), "STATUS": "0", "SLOWNESS": "0"}
    done = stage.run("scripts/setup", **quick)
    stage.true(done.returncode == 0, f"it ended with {done.returncode}:\n{done.stdout}")
    stage.says(done, "installing g++ cmake ninja-build")
    stage.silent_of(done, CHATTER, "Unpacking", "Get:", "set up")
    stage.true("install -y --no-install-recommends g++ cmake" in calls.read_text(), f"apt-get was asked: {calls.read_text()}")

    # An optional package that a release lacks: requested with the lists, old and new, and then left out.
    stage.play("apt-cache", 'case $1 in madison) [ "$2" = clang-19 ] || echo "$2 | 1.0 | http://mirror" ;; policy) echo "  Candidate: 3.25.1" ;; esac')
    stage.play("python3", "exit 0")  # fetches a disassembler
    calls.unlink()
    done = stage.run("scripts/setup", "ci", **quick)
    stage.true(done.returncode == 0, f"it ended with {done.returncode}:\n{done.stdout}")
    stage.says(done, "clang-19: this release has none")
    stage.true("clang-19" not in calls.read_text() and "clang-format-14" in calls.read_text(), f"apt-get was asked: {calls.read_text()}")

    slow = stage.run("scripts/setup", **{**quick, "SLOWNESS": "6"})
    stage.says(slow, "   set up 2 of 2\n")
    stage.silent_of(slow, CHATTER, "\r")
    terminal = stage.on_terminal("scripts/setup", **quick)
    stage.true("\r\x1b[K   unpacked 2 of 2" in terminal, f"no line moves:\n{terminal!r}")
    stage.true(CHATTER not in terminal and terminal.endswith("\r\x1b[K"), f"the line is not taken away:\n{terminal!r}")

    failed = stage.run("scripts/setup", **{**quick, "STATUS": "100"})
    stage.true(failed.returncode == 1, f"it ended with {failed.returncode}")
    stage.says(failed, "E: Unable to fetch http://mirror/g++ 404", "apt-get could not install g++ cmake", "its words are above")
    stage.finish()


main()
