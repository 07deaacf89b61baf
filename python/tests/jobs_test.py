"""jobs_test.py <fact>: joining, leaving, and PEs that die. Each is a job of its own; the launcher gives PEs."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

import numpy as np

import chime


def wanted(condition, words):
    if not condition:
        sys.exit(f"PE {os.environ.get('CHIME_TEST_PE', '?')}: {words}")


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    sys.exit(f"nothing was raised; wanted {kind.__name__}")


def is_bounded_by_init_and_finalize():
    for call in (chime.barrier, chime.my_pe, chime.n_pes, chime.quiet, lambda: chime.zeros(3), lambda: chime.WORLD.n_pes, chime.finalize):
        error = refused(chime.NotInitializedError, call)
        wanted(error.status == 2 and "chime.init()" in error.text, f"{error.status}: {error.text}")
    wanted(not chime.is_initialized(), "initialised before init")
    with chime.init() as job:
        wanted(chime.is_initialized() and 0 <= job.my_pe < job.n_pes, "not initialised after init")
        wanted(chime.node_n_pes() == job.n_pes and chime.node_my_pe() == job.my_pe, "not alone on a node")
        wanted(chime.pe_status(job.my_pe) == 0, "not alive")
        wanted("already" in refused(chime.InvalidError, chime.init).text, "a PE becomes one again")
        a, freed = chime.zeros(3), chime.zeros(3)
        freed.free()
    refused(chime.NotInitializedError, chime.barrier)
    wanted("finalize" in refused(chime.InvalidError, lambda: a.np).text, "an array outlives its job")
    wanted("free()" in refused(chime.InvalidError, lambda: freed.np).text, "an array is freed twice")


def is_not_left_by_an_exception():
    """For others would wait in finalize for this PE, or it for them: the launcher ends the job."""

    def fails():
        with chime.init():
            raise KeyError

    refused(KeyError, fails)
    wanted(chime.is_initialized(), "an exception has left the job")
    chime.finalize()


def names_its_errors():
    """Each status has its class, and PE 0 is a PE."""
    kinds = [chime.InvalidError, chime.NotInitializedError, chime.OutOfMemoryError, chime.MismatchError, chime.TimeoutError, chime.AbortedError,
             chime.PeerDeadError, chime.UnreachableError, chime.UnsupportedError, chime.SystemRefusedError, chime.LaunchError, chime.NetworkError]
    for status, kind in [*enumerate(kinds, start=1), (99, chime.Error)]:
        for pe in (-1, 0, 3):
            error = chime.errors.error(status, pe, "words")
            wanted(type(error) is kind, f"{status} is {type(error)}")
            wanted((error.status, error.pe, error.text, str(error)) == (status, None if pe < 0 else pe, "words", "words"), f"{status}: {vars(error)}")


def ends_with_a_status():
    program = "import chime; chime.init(); chime.global_exit(7)"
    done = subprocess.run([sys.executable, "-c", program], timeout=60)
    wanted(done.returncode == 7, f"the process has ended with {done.returncode}")


def takes_settings():
    refused(chime.InvalidError, lambda: chime.init(settings={"CHIME_ON_ERROR": "exit"}))
    refused(chime.InvalidError, lambda: chime.init(my_pe=0, n_pes=1))
    with mock.patch.object(chime.cuda_module, "open_softgpu", side_effect=KeyError):  # only once the arguments fit
        refused(chime.InvalidError, lambda: chime.init(uid=b"x" * 128, settings={"CHIME_DEVICE": "cuda"}))
    wanted("not both" in refused(chime.InvalidError, lambda: chime.init(comm=object(), uid=b"x")).text, "two ways to number PEs")
    wanted("bytes" in refused(chime.InvalidError, lambda: chime.init(uid=b"short", my_pe=0, n_pes=1)).text, "a short id is taken")
    wanted("CHIME_TIMEOUT" in refused(chime.Error, lambda: chime.init(settings={"CHIME_TIMEOUT": "soon"})).text, "a wrong value is taken")
    with chime.init(settings={"CHIME_SYMMETRIC_SIZE": "1M"}):
        refused(chime.OutOfMemoryError, lambda: chime.empty(64 << 20, np.uint8))


def prints_nothing_that_it_raises():
    """What the process writes to stderr while calls fail: nothing, for the exceptions say it."""
    refusals = (
        (chime.InvalidError, lambda: chime.atomic_add(a[0], 1, 9)),
        (chime.OutOfMemoryError, lambda: chime.empty(1 << 45)),
        (chime.InvalidError, lambda: chime.WORLD.split_strided(0, 1, 100)),
        (chime.TimeoutError, lambda: chime.signal_wait(word, "==", 1, timeout=0.2)),
    )
    stderr, written = os.dup(2), tempfile.TemporaryFile()
    os.dup2(written.fileno(), 2)
    try:
        refused(chime.InvalidError, lambda: chime.init(settings={"CHIME_TIMEOUT": "soon"}))
        with chime.init():
            a, word = chime.zeros(1), chime.zeros(1, np.uint64)
            for kind, call in refusals:
                refused(kind, call)
            wanted(chime.pe_status(77) == 1, "there is a PE 77")
    finally:
        os.dup2(stderr, 2)
    written.seek(0)
    words = written.read()
    wanted(words == b"", f"it has written {words}")


def numbers_pes_by_a_unique_id():
    """Two processes that no launcher started; the id goes through a pipe."""
    get, put = os.pipe()
    child = os.fork()
    pe = 0 if child else 1
    if pe == 0:
        uid = chime.unique_id()
        os.write(put, uid)
    else:
        uid = os.read(get, 4096)
    with chime.init(uid=uid, my_pe=pe, n_pes=2) as job:
        a = chime.zeros(1, np.int32)
        chime.put(a, [7 + pe], 1 - pe)
        chime.barrier()
        wanted((job.my_pe, job.n_pes, a.np[0]) == (pe, 2, 8 - pe), f"PE {job.my_pe} of {job.n_pes} has {a.np[0]}")
    if pe == 1:
        os._exit(0)
    wanted(os.waitpid(child, 0)[1] == 0, "the other PE has failed")


def takes_a_communicator_of_mpi4py():
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    reversed_ranks = comm.Split(0, -comm.Get_rank())
    with chime.init(comm=reversed_ranks) as job:
        wanted((job.my_pe, job.n_pes) == (reversed_ranks.Get_rank(), comm.Get_size()), "ranks are not PEs")
        a = chime.zeros(1, np.int32)
        chime.put(a, [job.my_pe + 5], (job.my_pe + 1) % job.n_pes)
        chime.barrier()
        wanted(a.np[0] == (job.my_pe - 1) % job.n_pes + 5, "nothing has come")


def survivor():
    """Under chime-run --keep-going with CHIME_ON_PEER_FAILURE=report the last PE dies. The others return its number, a team with it, and a signal that does
    not come."""
    chime.init()
    last, word, team = chime.n_pes() - 1, chime.zeros(1, np.uint64), chime.WORLD.split_strided(0, 1, chime.n_pes())
    chime.barrier()
    if chime.my_pe() == last:
        os.kill(os.getpid(), signal.SIGKILL)
    end = time.monotonic() + 60
    while chime.pe_status(last) == 0:
        wanted(time.monotonic() < end, f"PE {last} lives")
        time.sleep(0.01)
    return last, team, word


def names_a_dead_pe():
    last, team, word = survivor()
    error = refused(chime.PeerDeadError, team.barrier)
    wanted(error.pe == last and error.status == 7, f"{error.pe}: {error.text}")
    began = time.monotonic()
    error = refused(chime.PeerDeadError, lambda: chime.signal_wait(word, "==", 1))
    wanted(error.pe == last and f"PE {last}" in error.text, f"{error.pe}: {error.text}")
    wanted(time.monotonic() - began >= float(os.environ["CHIME_TIMEOUT"]) - 0.01, "CHIME_TIMEOUT has not passed")
    living = chime.WORLD.shrink()
    living.barrier()
    wanted(living.n_pes == last, f"{living.n_pes} live")
    print("named")
    os._exit(0)


def is_left_by_ctrl_c():
    with chime.init():
        word = chime.zeros(1, np.uint64)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        refused(KeyboardInterrupt, lambda: chime.signal_wait(word, "==", 1))
        wanted(time.monotonic() - began < 30, "the wait went on")
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        refused(KeyboardInterrupt, lambda: chime.wait(chime.zeros(1, np.int32), "==", 1))


def is_left_by_ctrl_c_after_a_death():
    """CHIME_TIMEOUT is 0: nothing else ends the wait."""
    _, _, word = survivor()
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    refused(KeyboardInterrupt, lambda: chime.signal_wait(word, "==", 1))
    wanted(time.monotonic() - began < 30, "the wait went on")
    print("left")
    os._exit(0)


def lets_other_threads_run():
    """What waits gives up the interpreter's lock."""
    with chime.init() as job:
        word = chime.zeros(1, np.uint64)
        wanted(chime.signal_fetch(word) == 0, "no zero")
        thread = threading.Timer(0.3, lambda: word.np.__setitem__(0, 4))
        thread.start()
        wanted(chime.signal_wait(word, "==", 4, timeout=60) == 4, "another value")
        thread.join()
        wanted(job.my_pe >= 0, "no PE")
        # PE 1 comes to a call when a thread of PE 0 has run, which waits for it in the call.
        ran, freed = chime.zeros(2, np.int32), chime.zeros(1)
        for turn, call in enumerate((freed.free, chime.barrier)):
            if job.my_pe == 0:
                threading.Timer(0.2, lambda: ran.np.__setitem__(turn, 1)).start()
            end = time.monotonic() + 20
            while job.my_pe == 1 and not ran.at(0)[turn]:
                wanted(time.monotonic() < end, f"no thread has run in PE 0 while {call} waited")
                time.sleep(0.01)
            call()


LONG_WAITS = """
import chime, time
import numpy as np
with chime.init() as job:
    word, element, waits = chime.zeros(1, np.uint64), chime.zeros(1, np.int32), chime.zeros(1, np.int32)
    if job.my_pe == 0:
        for turn, ends in enumerate((lambda: chime.signal_op(word, 1, 1), lambda: chime.atomic_set(element, 1, 1)), start=1):
            chime.wait(waits, "==", turn)
            time.sleep(0.4)
            ends()
    else:
        chime.atomic_inc(waits, 0)
        chime.signal_wait(word, "==", 1)
        chime.atomic_inc(waits, 0)
        chime.wait(element, "==", 1, timeout=60)
"""


def refuses_a_numpy_that_it_cannot_read():
    for version, knows_numpy_2 in (("1.24.2", False), ("1.26.0", True), ("2.4.6", True)):
        chime.numpy_fits.require(version, knows_numpy_2)
    said = refused(ImportError, lambda: chime.numpy_fits.require("2.4.6", False))
    wanted("numpy 2.4.6 is installed" in str(said) and "pip install 'numpy<2'" in str(said), said)


def shows_long_waits_on_the_timeline():
    """Each is one, and the summary names the PE that came late."""
    run, trace = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "run.json")
        subprocess.run([run, "-n", "2", "--trace", str(file), sys.executable, "-c", LONG_WAITS], check=True, timeout=100)
        spans = [event for event in json.loads(file.read_text())["traceEvents"] if event["ph"] == "X" and event["pid"] == 1]
        summary = subprocess.run([trace, "summary", str(file)], check=True, capture_output=True, text=True, timeout=100).stdout
    for category in ("call", "wait"):
        names = [span["name"] for span in spans if span["cat"] == category and "_wait_until" in span["name"]]
        wanted(names == ["chimex_signal_wait_until_timeout", "chimex_wait_until_timeout"], f"on the timeline are {names}")
    late = re.search(r"^ +0 +1 +\d+ +([\d.]+) +[\d.]+$", summary[summary.index("Late senders") :], re.MULTILINE)
    wanted(late and float(late[1]) > 600, f"the late sender is not in:\n{summary}")


FACTS = [refuses_a_numpy_that_it_cannot_read, is_bounded_by_init_and_finalize, is_not_left_by_an_exception, names_its_errors, ends_with_a_status,
         takes_settings, prints_nothing_that_it_raises, numbers_pes_by_a_unique_id, takes_a_communicator_of_mpi4py, names_a_dead_pe,
         is_left_by_ctrl_c, is_left_by_ctrl_c_after_a_death, lets_other_threads_run, shows_long_waits_on_the_timeline]

if __name__ == "__main__":
    {fact.__name__: fact for fact in FACTS}[sys.argv[1]]()
