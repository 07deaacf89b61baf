#!/usr/bin/env python3
"""softnic-trace on a real ping-pong, on planted differences and on files that are no traces.

trace_test.py <folder of softnic-run and softnic-trace> <ping-pong: 1 or 0>
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

TOOLS, HAS_PINGPONG = sys.argv[1], sys.argv[2] == "1"

WRITE = ("00002508" "0001bb03" "00000008" "00000000"  # control: RDMA_WRITE, index 0x25, qpn 0x1bb, ds 3, ce always
         "00007fa66a1ee000" "000010ab" "00000000"     # remote address, key
         "00010000" "000012cd" "00007ffa4ac3d000")    # 65536 bytes, lkey, local address
INLINE = ("00002608" "0001bb03" "00000000" "00000000" "00007fa66a1ee000" "000010ab" "00000000"
          "80000008" "1122334455667788" "00000000")
MASKED = ("09002714" "0001bb05" "00000088" "00000000" "00007fa66a1ee000" "000010ab" "00000000"
          "0000000000000007" "0000000000000000" "ffffffffffffffff" "0000000000000000"
          "00000008" "000012cd" "00007ffa4ac3d000")
CQE = "00" * 44 + "00010000" + "0000000000001234" + "080001bb" + "00250000"
ERROR = "00" * 44 + "00000000" + "0000000000007713" + "080001bb" + "002500d0"


def record(event, ns=1000, **members):
    return {"ns": ns, "pid": 7, "event": event, **members}


def wqe(text, **members):
    return record("wqe", qpn=0x1bb, transport="RC", index=int(text[2:6], 16), bytes=text, **members)


def doorbell(text):
    return record("doorbell", page=2, qpn=0x1bb, index=int(text[2:6], 16), bytes=text)


def cqe(text):
    return record("cqe", ns=9000, cqn=0x40, qpn=0x1bb, bytes=text)


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, *records):
        with open(self.path(name), "w") as file:
            for r in records:
                file.write((r if isinstance(r, str) else json.dumps(r)) + "\n")
        return self.path(name)

    def tool(self, *arguments, status=0):
        done = subprocess.run([os.path.join(TOOLS, "softnic-trace"), *arguments], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    # ---- print ----

    def test_every_field_of_a_write_is_printed(self):
        text = self.tool("print", self.write("t", wqe(WRITE)))
        for field in ("RDMA_WRITE", "index=37", "qpn=0x1bb", "ds=3", "ce=always", "raddr=0x7fa66a1ee000",
                      "rkey=0x10ab", "data[0].bytes=65536", "data[0].lkey=0x12cd", "data[0].address=0x7ffa4ac3d000"):
            self.assertIn(field, text)
        self.assertNotIn("reserved", text)

    def test_inline_data_and_masked_atomics(self):
        text = self.tool("print", self.write("t", wqe(INLINE), wqe(MASKED)))
        for field in ("data[0].inline=1122334455667788", "ATOMIC_MASKED_CS", "opmod=0x9", "fence=fence+small",
                      "swap=0x7", "compare=0", "swap_mask=0xffffffffffffffff", "compare_mask=0"):
            self.assertIn(field, text)
        self.assertNotIn("padding", text)
        self.assertNotIn("cut", text)

    def test_errors_have_names(self):
        self.assertIn("request-error syndrome=remote-access vendor=0x77", self.tool("print", self.write("t", cqe(ERROR))))

    def test_what_is_reserved_shows_when_written(self):
        dirty = WRITE[:56] + "00000001" + WRITE[64:]
        self.assertIn("reserved@32=0x1", self.tool("print", self.write("t", wqe(dirty))))

    def test_a_cut_request_is_printed_as_far_as_it_goes(self):
        text = self.tool("print", self.write("t", wqe(WRITE[:40])))
        self.assertIn("cut=at byte 20", text)

    def test_several_traces_come_by_time(self):
        one = self.write("one", {**wqe(WRITE), "ns": 3000}, {**cqe(CQE), "ns": 5000})
        two = self.write("two", {**doorbell("0000250800" "01bb03"), "ns": 2000, "pid": 8})
        lines = self.tool("print", one, two).splitlines()
        self.assertEqual([line.split()[3] for line in lines], ["doorbell", "wqe", "cqe"])
        self.assertEqual([line.split()[0] for line in lines], ["0.000", "1.000", "3.000"])

    # ---- bad input ----

    def test_bad_input_is_named_by_file_and_line(self):
        good = json.dumps(wqe(WRITE))
        bad = {
            "{\"ns\":1,": "this is no JSON object",
            "[1,2]": "this is no JSON object",
            "{\"ns\":1,\"pid\":1}": "there is no \"event\"",
            "{\"ns\":1,\"pid\":1,\"event\":\"tea\"}": "unknown event 'tea'",
            "{\"ns\":\"now\",\"pid\":1,\"event\":\"cqe\"}": "\"ns\" is no number",
            "{\"ns\":1,\"pid\":1,\"event\":\"wqe\",\"qpn\":1,\"transport\":\"RC\",\"index\":1}":
                "there is no \"bytes\"",
            "{\"ns\":1,\"pid\":1,\"event\":\"cqe\",\"cqn\":1,\"qpn\":1,\"bytes\":\"0g\"}":
                "\"bytes\" is not hexadecimal at digit 0",
            "{\"ns\":1,\"pid\":1,\"event\":\"cqe\",\"cqn\":1,\"qpn\":1,\"bytes\":\"001\"}":
                "\"bytes\" has an odd number of digits",
        }
        for line, complaint in bad.items():
            path = self.write("bad", good, line)
            for arguments in (["print", path], ["diff", path, path], ["perfetto", path]):
                text = self.tool(*arguments, status=2)
                self.assertIn(f"softnic-trace: {path}:2: {complaint}", text)

    def test_a_trace_that_is_cut_off_is_read_up_to_there(self):
        whole = self.write("whole", wqe(WRITE), cqe(CQE))
        with open(whole) as file:
            text = file.read()
        with open(self.path("cut"), "w") as file:
            file.write(text[:-20])
        printed = self.tool("print", self.path("cut"))
        self.assertIn("RDMA_WRITE", printed)
        self.assertIn(f"{self.path('cut')}:2: the trace is cut off inside this record", printed)
        with open(self.path("cut"), "w") as file:
            file.write(text[:-1])  # all but the line's end
        self.assertNotIn("cut off", self.tool("print", self.path("cut")))
        with open(self.path("cut"), "w") as file:
            file.write("no trace at all")
        self.assertIn("this is no JSON object", self.tool("print", self.path("cut"), status=2))

    def test_a_missing_file_is_named(self):
        self.assertIn("/nowhere/trace: No such file", self.tool("print", "/nowhere/trace", status=2))

    def test_an_unwritable_output_is_named(self):
        self.assertIn("/nowhere/out:", self.tool("perfetto", self.write("t", wqe(WRITE)), "-o", "/nowhere/out", status=2))

    # ---- diff ----

    def test_lines_that_cannot_be_written_are_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.path.join(TOOLS, "softnic-trace"), "print", self.write("t", wqe(WRITE))], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (2, "softnic-trace: the output cannot be written: No space left on device\n"))

    def test_a_wrong_option_has_the_exit_code_of_errors(self):
        self.assertIn("--no-such-option", self.tool("print", "--no-such-option", "t", status=2))

    def test_equal_traces(self):
        one = self.write("one", doorbell("0000250800" "01bb03"), wqe(WRITE), cqe(CQE))
        text = self.tool("diff", one, one)
        self.assertEqual(text, "3 events compared, 0 differences\n")

    def test_nothing_to_compare_is_no_equality(self):
        one = self.write("one", cqe(CQE))
        self.assertIn("neither trace has any", self.tool("diff", one, one, "--events", "wqe", status=2))

    def test_differs_only_in_what_is_ignored(self):
        other = ("00009908" "00077703" "00000004" "00000000" "0000000000001000" "00000001" "00000000"
                 "00010000" "00000002" "0000000000002000")
        one = self.write("one", doorbell("0000250800" "01bb03"), wqe(WRITE))
        two = self.write("two", doorbell("0000260000" "01bb00"), wqe(other))
        text = self.tool("diff", one, two, "--ignore", "doorbell,address,key,index,number,ce")
        self.assertIn("2 events compared, 0 differences; ignored: address (2), ce (1), doorbell (3), index (1), "
                      "key (2), number (1)", text)
        self.tool("diff", one, two, "--ignore", "doorbell,address,key,index,number", status=1)
        self.tool("diff", one, two, "--events", "wqe", "--ignore", "address,key,index,number,ce")

    def test_times_differ_whatever_is_ignored(self):
        later = CQE[:96] + "00000000deadbeef" + CQE[112:]
        one, two = self.write("one", wqe(WRITE), cqe(CQE)), self.write("two", wqe(WRITE), cqe(later))
        self.tool("diff", one, two)
        self.tool("diff", one, two, "--ignore", "address")

    def test_what_is_ignored_must_exist(self):
        one = self.write("one", cqe(CQE))
        self.assertIn("--ignore adress: no group of fields", self.tool("diff", one, one, "--ignore", "adress", status=2))

    def test_differences_are_printed_by_field_and_line(self):
        longer = WRITE.replace("00010000" "000012cd", "00010001" "000012cd")
        one, two = self.write("one", wqe(WRITE)), self.write("two", wqe(longer))
        text = self.tool("diff", one, two, status=1)
        self.assertEqual(text, f"{one}:1 | {two}:1: wqe\n    data[0].bytes: 65536 | 65537\n"
                         "1 events compared, 1 differences\n")
        self.tool("diff", one, two, "--ignore", "data[0].bytes")

    def test_every_byte_counts(self):
        """No bit of a request may change without diff seeing it."""
        one = self.write("one", wqe(WRITE), wqe(INLINE), wqe(MASKED))
        for which, text in enumerate((WRITE, INLINE, MASKED)):
            for at in range(len(text) // 2):
                changed = bytearray.fromhex(text)
                changed[at] ^= 1
                all = [WRITE, INLINE, MASKED]
                all[which] = changed.hex()
                # The record's own qpn and transport stay: only the bytes differ.
                two = self.write("two", *(wqe(t) for t in all))
                with self.subTest(request=which, byte=at):
                    self.tool("diff", one, two, status=1)

    def test_what_has_no_counterpart_is_a_difference(self):
        one, two = self.write("one", wqe(WRITE), wqe(INLINE)), self.write("two", wqe(WRITE))
        self.assertIn(f"{one}:2: wqe has no counterpart", self.tool("diff", one, two, status=1))
        self.assertIn(f"{one}:2: wqe has no counterpart", self.tool("diff", two, one, status=1))

    def test_order_between_kinds_does_not_matter(self):
        one = self.write("one", doorbell("0000250800" "01bb03"), wqe(WRITE), cqe(CQE), wqe(INLINE))
        two = self.write("two", doorbell("0000250800" "01bb03"), wqe(WRITE), wqe(INLINE), cqe(CQE))
        self.tool("diff", one, two)

    # ---- perfetto ----

    def test_a_slice_from_request_to_completion(self):
        path = self.write("t", wqe(WRITE), cqe(CQE))
        self.tool("perfetto", path, "-o", self.path("out"))
        with open(self.path("out")) as file:
            events = json.load(file)["traceEvents"]
        begin, = (e for e in events if e["ph"] == "b")
        end, = (e for e in events if e["ph"] == "e")
        self.assertEqual((begin["name"], begin["ts"]), ("QP 0x1bb RDMA_WRITE", 0.0))
        self.assertEqual((end["ts"], end["tid"], end["pid"]), (8.0, 0x1bb, 7))
        self.assertEqual([(e["name"], e["args"]["name"]) for e in events if e["ph"] == "M"], [("process_name", "t"), ("thread_name", "QP 0x1bb")])
        # Perfetto keeps a local id within its process. It puts requests with a plain "id" outside of all processes.
        self.assertEqual((begin["id2"], begin.get("id"), begin["pid"]), ({"local": "1"}, None, 7))
        self.assertEqual(end["id2"], begin["id2"])

    # ---- a real one ----

    @unittest.skipUnless(HAS_PINGPONG, "ibv_rc_pingpong cannot run here (not installed, or a sanitizer's build)")
    def test_pingpong(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        base = [os.path.join(TOOLS, "softnic-run"), "--fabric", f"trace-{os.getpid()}", "--counters", self.path("counters"),
                "--trace"]
        program = ["ibv_rc_pingpong", "-n", "20", "-p", port]
        server = subprocess.Popen([*base, self.path("server"), *program], stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(100):  # until the server listens
            client = subprocess.run([*base, self.path("client"), *program, "127.0.0.1"], capture_output=True,
                                    text=True, timeout=60)
            if client.returncode == 0:
                break
        self.assertEqual((client.returncode, server.wait(60)), (0, 0), client.stderr)
        text = self.tool("print", self.path("server"), self.path("client"))
        self.assertIn("ioctl       QP_CREATE", text)
        self.assertIn("wqe         SEND index=19", text)
        self.assertIn("cqe         send ", text)
        # Both sides do the same, except for numbers, addresses and how many of the posted receives they took.
        self.tool("diff", self.path("server"), self.path("client"), "--ignore", "time,number,address,key")
        self.tool("diff", self.path("server"), self.path("client"), "--ignore", "time,number", status=1)
        slices = json.loads(self.tool("perfetto", self.path("server"), self.path("client")))["traceEvents"]
        self.assertEqual(sum(e["ph"] == "b" for e in slices), 40)
        self.assertEqual(sum(e["ph"] == "e" for e in slices), 40)
        # And the counters; also of clients that found no server: these did nothing.
        with open(self.path("counters")) as file:
            told = [line for line in map(json.loads, file) if line["to_peers"]]
        self.assertEqual([(line["to_peers"], line["to_itself"], line["failed"]) for line in told],
                         [({"SEND": {"requests": 20, "bytes": 20 * 4096}}, {}, 0)] * 2)

    # ---- errors at the other end ----

    @unittest.skipUnless(HAS_PINGPONG, "ibv_asyncwatch cannot run here (not installed, or a sanitizer's build)")
    def test_a_file_that_another_process_writes_is_left_to_it(self):
        run = [os.path.join(TOOLS, "softnic-run"), "--fabric", f"trace-{os.getpid()}", "--trace", self.path("t")]
        first = subprocess.Popen([*run, "ibv_asyncwatch"], stdout=subprocess.PIPE, text=True)  # until the test ends it
        self.addCleanup(first.communicate)
        self.addCleanup(first.kill)
        self.assertIn("mlx5_0", first.stdout.readline())
        second = subprocess.Popen([*run, "ibv_devinfo"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        told = second.communicate(timeout=60)[1]
        own = f"{self.path('t')}.{second.pid}"
        self.assertIn(f"'{self.path('t')}' is being written by another process; this process writes to '{own}'. "
                      "A name with %p gives each its own", told)
        for path, pid in ((self.path("t"), first.pid), (own, second.pid)):
            with open(path) as file:
                self.assertEqual({json.loads(line)["pid"] for line in file}, {pid})

    @unittest.skipUnless(HAS_PINGPONG, "ibv_devinfo cannot run here (not installed, or a sanitizer's build)")
    def test_a_full_disk_ends_the_trace_with_one_sentence(self):
        done = subprocess.run([os.path.join(TOOLS, "softnic-run"), "--trace", "/dev/full", "ibv_devinfo"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("softnic: SOFTNIC_TRACE: cannot write '/dev/full': No space left"), 1,
                         done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
