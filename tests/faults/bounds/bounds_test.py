"""CHIME_CHECK=2: bounds_test.py <chime-run> <bounds> <right|wrong|ends>. Passes if operations within allocations are allowed,
and each other one is refused with a message that names it, the bytes that it would touch, and the allocation that it leaves.

Seen before: a put 256 MiB beyond its object, inside the heap, went unnoticed."""
import os
import re
import subprocess
import sys
import time

CHIME_RUN, PROGRAM, CASE = sys.argv[1:4]
PATIENCE_S, SOON_S = 250, 15
FIRST, SECOND, FREED = 520, 4096, 2048
NUMBERS = {"first": 1, "second": 2, "freed": 3}
SIZES = {"first": FIRST, "second": SECOND, "freed": FREED}
FAR = 256 << 20

# The bytes that each operation would touch: their number, the allocation that the offset counts from, the offset, whose memory.
THERE, HERE = "there", "here"
TOUCHES = {
    "put_end": ("chime_put", FIRST + 1, "first", 0, THERE),
    "put_nbi_span": ("chime_put_nbi", 1032, "first", 0, THERE),
    "put_before": ("chime_put", 1, "second", -1, THERE),
    "put_far": ("chime_put", 8, "first", FAR, THERE),
    "put_freed": ("chime_put", 16, "freed", 8, THERE),
    "put_here": ("chime_put", FIRST + 1, "first", 0, HERE),
    "put_here_freed": ("chime_put", 16, "freed", 0, HERE),
    "put_own": ("chime_put", 9, "first", FIRST - 8, HERE),
    "get_end": ("chime_get", FIRST + 1, "first", 0, THERE),
    "get_here": ("chime_get", FIRST + 1, "first", 0, HERE),
    "get_nbi_here_before": ("chime_get_nbi", 8, "second", -1, HERE),
    "p": ("chime_p", 8, "first", FIRST, THERE),
    "g": ("chime_g", 8, "second", SECOND, THERE),
    "inc": ("chime_atomic_inc", 8, "first", FIRST, THERE),
    "fetch_add": ("chime_atomic_fetch_add", 8, "first", FIRST, THERE),
    "signal_op": ("chimex_signal_op", 8, "first", FIRST, THERE),
    "signal_word": ("chime_put_signal", 8, "first", FIRST, THERE),
    "signal_data": ("chime_put_signal", FIRST + 1, "first", 0, THERE),
    "signal_here": ("chime_put_signal_nbi", FIRST + 1, "first", 0, HERE),
    "iput": ("chime_iput", 5 * 13 * 8 + 8, "first", 0, THERE),
    "iput_here": ("chime_iput", 5 * 13 * 8 + 8, "first", 0, HERE),
    "iget": ("chime_iget", 66 * 8, "first", 0, THERE),
    "iget_here": ("chime_iget", 66 * 8, "first", 0, HERE),
    "wait": ("chime_wait_until", 8, "first", FIRST, HERE),
    "wait_any": ("chime_wait_until_any", 16, "first", FIRST - 8, HERE),
    "signal_wait": ("chime_signal_wait_until", 8, "freed", 0, HERE),
    "test": ("chime_test", 8, "second", -8, HERE),
    "stream_put": ("chimex_putmem_on_stream", FIRST + 1, "first", 0, THERE),
    "stream_get_here": ("chimex_getmem_on_stream", FIRST + 1, "first", 0, HERE),
    "stream_signal": ("chimex_signal_op_on_stream", 8, "freed", 0, THERE),
}
BY_BLOCK = ("put_end", "get_here", "signal_data")


def counted(n):
    return f"{n} byte" if n == 1 else f"{n} bytes"


def named(allocation, places):
    return f"allocation #{NUMBERS[allocation]} of {SIZES[allocation]} bytes (at heap offset {places[allocation]})"


def trespass(begin, count, places):
    """The message for bytes from `begin` on, by the offsets of the allocations."""
    if places["freed"] <= begin < places["freed"] + FREED:
        return f"touch {named('freed', places)}, which is freed; free it after its last use"
    last = "second" if begin >= places["second"] else "first"
    end = places[last] + SIZES[last]
    if begin >= end:
        return f"begin {counted(begin - end)} behind the end of {named(last, places)}; is the index in its range?"
    return f"end {counted(begin + count - end)} after {named(last, places)}; allocate more, or move less"


def expected(name, places, me, peer):
    operation, count, base, offset, where = TOUCHES[name]
    begin = places[base] + offset
    whose = me if where == HERE else peer
    return operation, f"{counted(count)} at heap + {begin} of PE {whose} would {trespass(begin, count, places)} (CHIME_CHECK=2)"


def run(environment):
    """The exit code, the output, and the seconds from the first error of a PE to the end: before it, a kernel may be compiled for
    minutes."""
    command = [CHIME_RUN, "-n", "2", "--no-prefix", "--timeout", str(PATIENCE_S), PROGRAM, CASE]
    output, failed_at = "", None
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "CHIME_CHECK": "2", **environment}) as job:
        for line in job.stdout:
            output += line
            if failed_at is None and line.startswith("chime: PE"):
                failed_at = time.time()
    print(output)
    return job.returncode, output, time.time() - (failed_at or 0)


def places_of(pe, output):
    return {name: int(at) for name, at in re.findall(rf"^PE {pe} has (\w+) (\d+)$", output, re.M)}


def wrong_in_a_row(pe, by, name, output):
    places = places_of(pe, output)
    said = re.findall(rf"^PE {pe} by {by} {name}: (.*)$", output, re.M)
    if len(said) != 1:
        return f"PE {pe} by {by} {name}: {len(said)} times"
    operation, words = expected(name, places, pe, 1 - pe)
    of_kernel = "" if by == "host" else r" in thread \d+ of block 0 of a kernel"
    if re.fullmatch(rf"(chime_fence: )?{operation}{of_kernel}: {re.escape(words)}", said[0]):
        return None
    return f"PE {pe} by {by} {name}: '{said[0]}' instead of '{operation}{of_kernel}: {words}'"


def wrongs_in_wrong(output):
    rows = [("host", name) for name in TOUCHES]
    rows += [("thread", name) for name in TOUCHES if not name.startswith("stream")]
    rows += [("block", name) for name in BY_BLOCK]
    return [w for pe in (0, 1) for by, name in rows if (w := wrong_in_a_row(pe, by, name, output))]


def main():
    ends = CASE == "ends"
    code, output, took = run({} if ends else {"CHIME_ON_ERROR": "return", "CHIME_LOG": "off"})
    if ends:
        _, words = expected("put_end", places_of(1, output), 1, 0)
        said = f"chime: PE 1: chime_put in thread 0 of block 0 of a kernel: {words}"
        wrongs = [] if output.count(said) == 1 else [f"not once: '{said}'"]
        if code in (0, 124) or took > SOON_S:
            wrongs.append(f"the job ended with {code}, {took:.0f} s after its first error")
        return wrongs
    wrongs = [] if code == 0 else [f"the job ended with {code}"]
    if CASE == "wrong":
        return wrongs + wrongs_in_wrong(output)
    said = re.findall(r"^PE \d by \w+ all: (.*)$", output, re.M)
    return wrongs + ([] if said == ["nothing"] * 12 else [f"refused: {said}"])


failures = main()
sys.exit("\n".join(failures) if failures else 0)
