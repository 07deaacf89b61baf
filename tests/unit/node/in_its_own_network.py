"""in_its_own_network.py <command...>: runs a PE of mpirun in a separate network namespace, like a container's. Needs root.

The PE still reaches its PMIx launcher, which listens on loopback: a process outside forwards the connections to that port
in the new namespace."""
import ctypes
import os
import re
import select
import signal
import socket
import subprocess
import sys

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        sys.exit("in_its_own_network: " + os.strerror(ctypes.get_errno()))


def launcher_port():
    for name, value in os.environ.items():
        if name.startswith("PMIX_SERVER_URI") and (found := re.search(r"tcp4://127\.0\.0\.1:(\d+)", value)):
            return int(found[1])
    return None


def carry(listener, port):
    """Until the PE ends."""
    other_end = {}
    while True:
        for ready in select.select([listener, *other_end], [], [])[0]:
            if ready is listener:
                here = listener.accept()[0]
                there = socket.create_connection(("127.0.0.1", port))
                other_end.update({here: there, there: here})
            elif ready in other_end:
                end = other_end[ready]
                try:
                    data = ready.recv(1 << 16)
                    end.sendall(data)
                except OSError:
                    data = b""
                if not data:
                    for each in (ready, end):
                        del other_end[each]
                        each.close()


outside = os.open("/proc/self/ns/net", os.O_RDONLY)
check(libc.unshare(CLONE_NEWNET))
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
port = launcher_port()
if port is not None:
    listener = socket.create_server(("127.0.0.1", port))
    pe = os.getpid()
    if os.fork() == 0:
        check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        check(libc.setns(outside, CLONE_NEWNET))
        for stream in range(3):  # mpirun waits for their ends
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        if os.getppid() == pe:
            carry(listener, port)
        sys.exit()
    listener.close()
os.close(outside)
os.execvp(sys.argv[1], sys.argv[1:])
