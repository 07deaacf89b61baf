"""A build's output (lib.sh, for all scripts): its progress, the compiler's messages only on failure, and the owner of a build
folder that cannot be written."""

import os
import re
import sys

from stage import NOBODY, Stage

# Configures, then builds three files.
CMAKE = """
[ "$1" = --build ] || { echo "-- Configuring done: $*"; exit; }
for step in 1 2 3; do echo "[$step/3] Building CXX object $step.o"; done
[ "$STATUS" = 0 ] || echo "x.cpp:1: error: planted"
exit "$STATUS"
"""
# Five steps, seconds after one that takes long has begun: at 0, 7 and again 7, 15 and 20. The shell's clock is set, so a busy machine
# does not change them.
SLOW = "set -u; . scripts/lib.sh; start_progress; begun=$SECONDS; for at in 0 7 7 15 20; do SECONDS=$((begun + at)); progress at $at; done"
BUILD = 'set -u; . scripts/lib.sh; build_preset cpu chime; echo "status $?"'


def check_progress(stage):
    quick = {"STATUS": "0", "PRESET": ""}  # the caller of this test may have chosen a preset
    done = stage.run("bash", "-c", BUILD, **quick)
    stage.true(done.stdout == "status 0\n", f"a quick build is not silent:\n{done.stdout}")
    log = (stage.project / "build/cpu/build.log").read_text()
    stage.true("Configuring done" in log and "[3/3] Building" in log, f"the log lacks something:\n{log}")
    for options, is_anew in (("", False), ("-DOTHER=1", True), ("-DOTHER=1", False), ("", True)):
        stage.run("bash", "-c", BUILD, **quick, CONFIGURE=options)
        log = (stage.project / "build/cpu/build.log").read_text()
        stage.true(("--fresh" in log) == is_anew, f"configured with '{options}':\n{log}")
    slow = stage.run("bash", "-c", SLOW)
    stage.true(slow.stdout == "   at 7\n   at 20\n", f"not silent for five seconds, or not once in ten then:\n{slow.stdout}")
    silent = stage.run("bash", "-c", "set -u; . scripts/lib.sh; { sleep 6; echo '[0/2] Re-checking globbed directories...'; } | build_progress")
    stage.true(silent.stdout == "   configuring\n", f"CMake says nothing, nor does the script:\n{silent.stdout}")
    terminal = stage.on_terminal("bash", "-c", BUILD, **quick)
    for text in ("configuring", "compiled 1 of 3", "compiled 3 of 3"):
        stage.true(f"\r\x1b[K   {text}" in terminal, f"'{text}' is not on the terminal:\n{terminal!r}")
    stage.true("\r\x1b[Kstatus 0" in terminal, f"the line is not taken away:\n{terminal!r}")
    failed = stage.run("bash", "-c", BUILD, **{**quick, "STATUS": "2"})
    stage.says(failed, "x.cpp:1: error: planted", "build of preset 'cpu' failed; the whole log is", "status 1")


def check_other_place(stage):
    other = stage.project / "elsewhere"
    done = stage.run("bash", "-c", BUILD, BUILD_FOLDER=str(other), STATUS="0")
    stage.true(done.returncode == 0 and (other / "cpu/build.log").exists(), f"BUILD_FOLDER is not used:\n{done.stdout}")


def check_others_folder(stage):
    """As a folder of another user: root's, used by nobody; or, where this test does not run as root, a read-only one."""
    user = NOBODY if os.getuid() == 0 else None
    stage.project.chmod(0o755)
    log = stage.project / "build/cpu/build.log"
    log.chmod(0o444)
    (stage.project / "build").chmod(0o777)
    (stage.project / "build/cpu").chmod(0o777)
    whose = "root" if user else "read-only"
    for command in (["bash", "-c", BUILD], ["scripts/test"], ["scripts/demo"]):
        done = stage.run(*command, user=user, STATUS="0", PRESET="cpu")
        stage.true(done.returncode != 0 or "status 1" in done.stdout, f"{command}: it went on:\n{done.stdout}")
        stage.says(done, f"{log} cannot be written by", whose, "BUILD_FOLDER=$HOME/", f"chown -R")
        stage.silent_of(done, "Permission denied")
    done = stage.run("scripts/demo", user=user, STATUS="0", BUILD_FOLDER="/proc/none")
    stage.says(done, "/proc cannot be written by", "BUILD_FOLDER=")


def check_preset(stage):
    """scripts/test takes the softgpu's Worlds where clang can compile for them and no toolkit is there."""
    clang = 'case $1 in -dumpversion) echo "$VERSION" ;; --print-targets) echo "    nvptx64 - NVIDIA PTX 64-bit" ;; esac'
    stage.play("clang++-19", clang)
    stage.play("clang++", clang)
    stage.play("ctest", "echo played")
    with open(stage.project / "scripts/lib.sh", "a") as lib:  # this machine may have one where lib.sh looks
        lib.write('find_nvcc() { [ "${TOOLKIT-}" ]; }\n')
    quick = {"STATUS": "0", "PRESET": ""}  # the caller of this test may have chosen a preset

    def preset(**variables):
        done = stage.run("scripts/test", **(quick | variables))
        return re.findall(r"^-- (\w+): build", done.stdout, re.M)

    stage.true(preset(VERSION="19.1.7") == ["softgpu"], "clang 19 and no toolkit: not the softgpu's preset")
    stage.true(preset(VERSION="19.1.7", PRESET="cpu") == ["cpu"], "PRESET does not choose")
    stage.true(preset(VERSION="14.0.6") == ["cpu"], "clang 14: not preset cpu")
    stage.true(preset(VERSION="19.1.7", TOOLKIT="1") == ["cpu"], "beside a toolkit: not preset cpu")


def check_no_build(stage):
    """What is built is run at once; where nothing is, that is said. Building says so before it begins."""
    stage.play("ctest", 'echo "ctest: $*"')
    quick = {"STATUS": "0", "PRESET": "asan"}
    done = stage.run("scripts/test", "--no-build", "-R", "signal", **quick)
    stage.true(done.returncode == 1, f"without a build it ended with {done.returncode}:\n{done.stdout}")
    stage.says(done, "nothing is built in", "build/asan", "scripts/test without it")
    stage.silent_of(done, "ctest:")
    done = stage.run("scripts/test", "-R", "signal", **quick)
    stage.true(done.stdout.startswith("-- building all of preset asan"), f"the first line is another:\n{done.stdout}")
    log = stage.project / "build/asan/build.log"
    log.unlink()
    (stage.project / "build/asan/CTestTestfile.cmake").touch()
    done = stage.run("scripts/test", "--no-build", "-R", "signal", **quick)
    stage.true(done.returncode == 0 and not log.exists(), f"it built, or failed:\n{done.stdout}")
    stage.says(done, "build/asan", "-R signal")
    stage.silent_of(done, "building")


def main():
    stage = Stage(sys.argv[1])
    stage.play("cmake", CMAKE)
    setup = stage.project / "scripts/setup"
    setup.write_text("#!/bin/bash\n")
    stage.explains_itself("scripts/test", "  scripts/test [ctest arguments]")
    check_progress(stage)
    check_other_place(stage)
    check_others_folder(stage)
    check_preset(stage)
    check_no_build(stage)
    stage.finish()


main()
