"""Two PEs in process-id spaces of their own (containers): own_heap_for_a_peers_test.py <setup_pe> [<chime-run>].

Both had process id 1 and, loaded alike, the same addresses. Under mpirun each took the other for a thread of its own process,
and the other's heap for its own: puts reached the caller's own heap. chime-run took them for PEs of two nodes, and did not map
them. Exit code 77: spaces cannot be made here, or no mpirun."""
import os
import shutil
import subprocess
import sys

OWN_SPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
SAME_ADDRESSES = ["setarch", "-R"]


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def try_to_run(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, stdout=str(error))


probe = try_to_run(SAME_ADDRESSES + OWN_SPACE + ["true"])
if probe.returncode != 0:
    skip("process-id spaces of their own take root and unshare: " + probe.stdout.strip())

if len(sys.argv) > 2:
    launcher = [sys.argv[2], "-n", "2", "--timeout", "60"]
elif shutil.which("mpirun"):
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--timeout", "60", "-n", "2"]
else:
    skip("mpirun is not installed (Debian: openmpi-bin)")
# One kernel and one network namespace, where memory can be mapped: so the two are local peers.
done = subprocess.run(launcher + SAME_ADDRESSES + OWN_SPACE + [sys.argv[1], "exchanges_words"], text=True, timeout=90,
                      env=dict(os.environ, CHIME_P2P="auto"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT)
print(done.stdout)
assert done.returncode == 0, done.returncode
for pe in (0, 1):
    # The word of each PE is its number plus 1, and all PEs write theirs into every heap.
    assert f"PE {pe} says sees 1 2 at" in done.stdout, f"PE {pe} does not have both words"
