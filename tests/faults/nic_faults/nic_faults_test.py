"""Three PEs, one of whose NICs has a fault: nic_faults_test.py <chime-run> <nic_faults> <case>.

Passes if the PEs that post to a lost queue get a full report within the deadline, and no other PE does; if the messages of all
other PEs arrive; if each message with its signal is whole; and if the fault has struck: doomed senders go on for longer than that
takes, and the softnic counts the faults that change no result. Errors return, so that a PE can print them.

Where errors exit, as they do for users (error_ends_job), it passes if the job ends and the PE with the fault has reported the failure
once, in full."""
import json
import os
import re
import subprocess
import sys
import tempfile

# The kernels' queue pair to each PE, on every PE; those of host operations follow. The verbs backend makes one first, to learn its size.
BACKEND = os.environ["CHIME_NIC_BACKEND"]
FIRST = {"devx": 0x40, "verbs": 0x41}[BACKEND]
KERNELS_QUEUE_TO = {pe: FIRST + pe for pe in range(3)}
ROUNDS, MESSAGE_BYTES = 20, 1024
OK, TIMEOUT, NETWORK = 0, 5, 12
# Seconds until a lost queue is reported: the NIC's retries with patience for a slow neighbour (12 s), or CHIME_TIMEOUT (25 s).
DEADLINE_S = 100
LIMIT_S = 250
TIMED_OUT = 124

SYNDROMES = {
    "local-length": "its length is wrong for the queue pair",
    "local-qp-operation": "the NIC could not take the request",
    "local-protection": "the NIC may not use the memory here",
    "bad-response": "the peer's answer made no sense",
    "local-access": "the NIC may not write to the memory here",
    "remote-invalid-request": "the peer's NIC could not take the request",
    "remote-access": "the peer's NIC may not use that memory",
    "remote-operation": "the peer's NIC failed",
    "transport-retry": "the peer's NIC does not answer",
    "rnr-retry": "the peer's NIC is not ready",
    "remote-aborted": "the peer aborted it",
}
IN_FULL = (r"an operation on heap \+ \d+ of PE \d failed: (a write|an atomic) of \d+ bytes by queue pair 0x[0-9a-f]+ of kernels "
           r"(failed|was flushed) at \d+\.\d+ s")


def error(syndrome, request, words):
    """Each message is two requests, data and signal. PE 1 has the messages before the failed request."""
    rule = f"error:syndrome={syndrome},wqe={request},qp={KERNELS_QUEUE_TO[1]:#x}"
    return {"faulty": 0, "rule": rule, "doomed": ["0>1", "1>0"], "words": {0: words}, "most_rounds": {(0, 1): request // 2}}


# The 16th request is the signal of message 8, which the sender waits for: no request follows, so no queue may lose the cause.
CASES = {f"error_{name.replace('-', '_')}": error(name, 15, f"a write of 8 bytes .* failed .*{words}")
         for name, words in SYNDROMES.items()}

# The signal after the data of message 11 is flushed, with a completion. Only where that overwrites the failure is the cause lost; a poller may
# come in time. A ring of completions keeps both.
DATA_FAILED, SIGNAL_FLUSHED = (f"a write of {MESSAGE_BYTES} bytes .* failed .*{SYNDROMES['remote-access']}",
                               "a write of 8 bytes .* was flushed .*which request failed first, and why, is lost")
CASES["error_overwritten"] = error("remote-access", 20, {"verbs": DATA_FAILED, "devx": f"({DATA_FAILED}|{SIGNAL_FLUSHED})"}[BACKEND])

# The last request of a PE that then waits for the answer: only that wait polls the queue.
CASES["error_then_wait"] = error("remote-access", 2 * ROUNDS, {}) | {
    "doomed": ["0>1!", "1>0"], "words": {0: f"a write of 8 bytes .* failed .*{SYNDROMES['remote-access']}"}}

# With CHIME_ON_ERROR=exit.
CASES["error_ends_job"] = CASES["error_remote_access"] | {"ends_job": True}

# Faults that change no result, and how often each has struck at least. Chime's requests take no receive WQE, so rnr never strikes.
TO_1 = f"qp={KERNELS_QUEUE_TO[1]:#x}"
CASES |= {
    "late_cqe": {"faulty": 0, "rule": f"seed=3;late_cqe:p=0.7,us=3000,{TO_1}", "strikes": {"late_cqe": 1}},
    "delay": {"faulty": 0, "rule": f"seed=5;delay:p=0.5,us=2000,{TO_1}", "strikes": {"delay": 1}},
    "torn": {"faulty": 0, "rule": f"seed=7;torn:p=0.7,us=1000,{TO_1}", "strikes": {"torn": 1}},
    "slow_atomics": {"faulty": 0, "rule": "slow_atomics:us=50", "strikes": {"slow_atomics": ROUNDS}},
    "rnr": {"faulty": 0, "rule": "rnr", "strikes": {"rnr": 0}},
    "all_benign": {"faulty": 0, "rule": "seed=9;late_cqe:p=0.5,us=1000;delay:p=0.3;torn:p=0.5;slow_atomics:us=20",
                   "strikes": {"late_cqe": 1, "delay": 1, "torn": 1, "slow_atomics": ROUNDS}},
    "lost_doorbell": {"faulty": 0, "rule": f"lost_doorbell:qp={KERNELS_QUEUE_TO[1]:#x}", "doomed": ["0>1"]},
    "stall": {"faulty": 1, "rule": f"stall:qp={KERNELS_QUEUE_TO[0]:#x}", "doomed": ["0>1", "1>0"]},
    # The driver reports this to the owner of the device at once, not after CHIME_TIMEOUT.
    "vanish": {"faulty": 1, "rule": "vanish:us=8000000", "doomed": ["0>1", "1>0", "2>1", "1>2"], "own": 1, "own_within_s": 15,
               "doomed_s": 10},
}

chime_run, program, name = sys.argv[1:]
case = CASES[name]
doomed = [tuple(map(int, way.rstrip("!").split(">"))) for way in case.get("doomed", [])]

with tempfile.TemporaryDirectory(prefix="nic-faults-") as folder:
    goes_on, variables = (["--keep-going"], {}) if "ends_job" not in case else ([], {"CHIME_ON_ERROR": "exit"})
    command = [chime_run, "-n", "3", *goes_on, "--timeout", str(LIMIT_S), program, str(case["faulty"]), case["rule"],
               folder, str(case.get("doomed_s", 2)), *case.get("doomed", [])]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LIMIT_S + 30, check=False, env=os.environ | variables)
print(done.stdout)
verdicts = {v["pe"]: v for v in map(json.loads, re.findall(r"verdict (\{.*\})", done.stdout))}
wrong = []


def check(fact, what):
    if not fact:
        wrong.append(what)


if "ends_job" in case:
    verdicts.clear()  # of PEs that ended before the job did
    check(done.returncode not in (0, TIMED_OUT), f"the job ended with {done.returncode}")
    for pe, words in case["words"].items():
        said = re.findall(rf"^\[{pe}\] chime: PE {pe}: .*{IN_FULL}.*", done.stdout, re.MULTILINE)
        told = [line for line in done.stdout.splitlines() if re.match(rf"\[{pe}\] chime: PE {pe}: .*{words}", line)]
        check(len(told) == 1, f"PE {pe} reported the failure {len(told)} times")
        check(len(said) == 1, f"PE {pe} reported the failure in full {len(said)} times")
else:
    check(done.returncode == 0, f"the job ended with {done.returncode}")
    check(set(verdicts) == {0, 1, 2}, f"only PEs {sorted(verdicts)} came to their end")
for pe, said in verdicts.items():
    for peer in {0, 1, 2} - {pe}:
        rounds, torn = said[f"rounds_{peer}"], said[f"torn_{peer}"]
        check(torn == 0, f"PE {pe} saw {torn} signals of PE {peer} before their messages were whole")
        check((peer, pe) in doomed or rounds == ROUNDS, f"PE {pe} had {rounds} of {ROUNDS} messages of PE {peer}")
        check(rounds <= case.get("most_rounds", {}).get((peer, pe), ROUNDS),
              f"PE {pe} had {rounds} messages of PE {peer}: more than were sent before the failure")
    if pe == case.get("own"):
        check(said["status"] == NETWORK and said["peer"] == pe, f"PE {pe} has status {said['status']} and names PE {said['peer']}")
        check("its own NIC mlx5_" in said["message"], f"PE {pe}: '{said['message']}' does not say that it is its own NIC")
        check(said["seconds"] < case["own_within_s"], f"PE {pe} got the error after {said['seconds']} s")
        continue
    lost = {to for way, to in doomed if way == pe}
    if not lost:
        check(said["status"] == OK, f"PE {pe} has an error and sends to no lost queue: {said['message']}")
        continue
    check(said["status"] in (NETWORK, TIMEOUT), f"PE {pe} has status {said['status']}: {said['message']}")
    check(said["peer"] in lost, f"PE {pe} names PE {said['peer']}, and lost the queues to {lost}")
    check(said["seconds"] < DEADLINE_S, f"PE {pe} got the error after {said['seconds']} s")
    if said["status"] == NETWORK:
        check(re.search(IN_FULL, said["message"]), f"PE {pe}: '{said['message']}' is not in full")
    if pe in case.get("words", {}):
        check(said["status"] == NETWORK and re.search(case["words"][pe], said["message"]),
              f"PE {pe}: '{said['message']}' has not the words '{case['words'][pe]}'")
if "strikes" in case:
    counted = re.findall(r'"softnic":"counters",.*"faults":(\{.*?\})', done.stdout)
    check(len(counted) == 1, f"{len(counted)} NICs with a fault printed counters")
    for rule, least in case["strikes"].items() if counted else ():
        struck = json.loads(counted[0])[rule]
        check(struck >= least and (struck > 0) == (least > 0), f"{rule} struck {struck} times, and must {least} times at least")
if "error:" in case["rule"]:
    check("softnic: fault: error" in done.stdout, "the fault did not happen")
for failure in wrong:
    print("FAILED", failure)
sys.exit(1 if wrong else 0)
