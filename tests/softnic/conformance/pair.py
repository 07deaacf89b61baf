#!/usr/bin/env python3
"""Runs an unmodified RDMA program as a server and a client, each on a softnic of its own, and checks both.

    pair.py --softnic-run build/cpu/softnic/softnic-run -- ib_write_bw -p {port} -F

{port} becomes a TCP port that no other pair uses; the client gets the server's address as its last argument. Both
must end with status 0 within --timeout seconds, print the patterns of --expect, and no report of strict mode.
With --fails the client must end with another status, and the server with any.
Exit status 77: the program is not installed.
"""

import argparse
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

ADDRESS = "127.0.0.1"
PORTS = range(18000, 32000)  # below the ports that the kernel gives to connections
LISTEN = "0A"


class Failure(Exception):
    pass


def reserve_port():
    """A port without a listener, and a socket whose name reserves it against other pairs until this process ends."""
    for port in random.sample(PORTS, len(PORTS)):
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0softnic-test-port/{port}")
        except OSError:
            lock.close()
            continue
        if not is_listening(port):
            return port, lock
    raise Failure("no free port")


def is_listening(port):
    """Reads the kernel's table: a test connection would be taken for the client."""
    wanted = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table) as lines:
                rows = [line.split() for line in lines][1:]
        except FileNotFoundError:
            continue
        if any(row[1].endswith(wanted) and row[3] == LISTEN for row in rows):
            return True
    return False


class Program:
    """One side: a process group, its output in memory."""

    def __init__(self, name, command, environment):
        self.name = name
        self.command = command
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace",
                                        start_new_session=True)
        self.output = ""

    def end(self, deadline):
        """Waits for the end; True when it came in time."""
        try:
            self.output += self.process.communicate(timeout=max(0.1, deadline - time.monotonic()))[0]
            return True
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def kill(self):
        if self.process.returncode is not None:
            return
        os.killpg(self.process.pid, signal.SIGKILL)
        self.output += self.process.communicate()[0]

    def report(self):
        shown = "\n".join(self.output.splitlines()[-60:])
        return f"---- {self.name}: {' '.join(self.command)}\n{shown}\n---- {self.name}: status {self.process.returncode}"


def check(program, expected):
    if program.process.returncode != 0:
        raise Failure(f"the {program.name} ended with status {program.process.returncode}")
    if "softnic: strict:" in program.output:
        raise Failure(f"strict mode reported the {program.name}")
    check_output(program, expected)


def check_failed(program, expected):
    if program.process.returncode <= 0:
        raise Failure(f"the {program.name} ended with status {program.process.returncode}, and should have failed")
    check_output(program, expected)


def check_output(program, expected):
    for pattern in expected:
        if not re.search(pattern, program.output, re.MULTILINE):
            raise Failure(f"the {program.name} did not print '{pattern}'")


def wait_until_listening(server, port, deadline):
    while not is_listening(port):
        if server.process.poll() is not None:
            raise Failure("the server ended before it listened")
        if time.monotonic() > deadline:
            raise Failure("the server does not listen")
        time.sleep(0.01)


def environment_of(options, fabric, variables=()):
    environment = dict(os.environ)
    environment.update(pair.split("=", 1) for pair in [*options.env, *variables])
    environment["SOFTNIC_FABRIC"] = fabric
    if options.preload:  # softnic-run adds its library after it
        environment["LD_PRELOAD"] = options.preload
    # Leaks of the programs themselves do not count.
    environment["ASAN_OPTIONS"] = "detect_leaks=0:" + environment.get("ASAN_OPTIONS", "")
    return environment


def new_fabric():
    return f"test/{os.getpid()}/{random.getrandbits(32):08x}"


def command_of(options, port):
    return [options.softnic_run] + (["--ethernet"] if options.ethernet else []) + [
        word.replace("{port}", str(port)) for word in options.program]


def run_alone(options, programs, deadline):
    programs.append(Program("program", command_of(options, 0), environment_of(options, new_fabric())))
    if not programs[0].end(deadline):
        raise Failure(f"not finished after {options.timeout} s")
    check(programs[0], options.expect)


def run_pair(options, programs, deadline):
    port, lock = reserve_port()
    fabric = new_fabric()
    command = command_of(options, port)
    server = Program("server", command, environment_of(options, fabric, options.env_server))
    programs.append(server)
    wait_until_listening(server, port, deadline)
    client = Program("client", command + [ADDRESS], environment_of(options, fabric))
    programs.append(client)
    if not client.end(deadline) or not (options.fails or server.end(deadline)):
        raise Failure(f"not finished after {options.timeout} s")
    if options.fails:
        server.kill()
        return check_failed(client, options.expect)
    check(client, options.expect)
    check(server, options.expect_server)
    lock.close()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--softnic-run", required=True, help="the launcher of the build under test")
    parser.add_argument("--alone", action="store_true", help="one process instead of a pair")
    parser.add_argument("--ethernet", action="store_true", help="RoCE v2 port")
    parser.add_argument("--preload", help="library to load before the softnic: the runtime of a sanitizer")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--env-server", action="append", default=[], metavar="NAME=VALUE", help="of the server alone")
    parser.add_argument("--fails", action="store_true", help="the client must fail; the server is not judged")
    parser.add_argument("--expect", action="append", default=[], metavar="REGEX", help="what the client prints")
    parser.add_argument("--expect-server", action="append", default=[], metavar="REGEX")
    parser.add_argument("--repeat", type=int, default=1, help="so many times, back to back")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each repeat (default: %(default)s)")
    parser.add_argument("program", nargs="+", help="the program and its arguments")
    return parser.parse_args()


def main():
    options = parse()
    if not shutil.which(options.program[0]):
        print(f"skipped: {options.program[0]} is not installed")
        return 77
    started = time.monotonic()
    for turn in range(options.repeat):
        programs = []
        try:
            (run_alone if options.alone else run_pair)(options, programs, time.monotonic() + options.timeout)
        except Failure as failure:
            for program in programs:
                program.kill()
                print(program.report())
            print(f"FAILED in repeat {turn + 1} of {options.repeat}: {failure}")
            return 1
    print(f"passed {options.repeat} times in {time.monotonic() - started:.1f} s: {' '.join(options.program)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
