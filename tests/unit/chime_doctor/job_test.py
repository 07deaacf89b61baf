"""job_test.py <chime-doctor> <libchime's soname> <chime-run> [<mpirun>]: what chime-doctor --job says of jobs on one host whose PEs really differ. Several hosts:
tests/multi_host/doctor_test.py."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

DOCTOR, SONAME, CHIME_RUN, *MPIRUN = sys.argv[1:]
PATIENCE_S = 120  # for a job that takes a second on an idle machine
WAIT = ["--wait", "60", "--patience", "30"]  # for PEs and libraries, on a machine that does more
BECAUSE = 'if [ "$CHIME_RUN_PE" = 1 ]; then %s; fi; exec "$0" "$@"'  # PE 1 alone does so


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env={**os.environ, **environment})


def report_of(output):
    """Its lines that are not ok, as {(level, what): text}."""
    return {(one["level"], one["what"]): one for one in json.loads(output)["findings"] if one["level"] != "ok"}


class Job(unittest.TestCase):
    def job(self, *command, n=2, wait=WAIT, **environment):
        """(exit code, report) of a job whose PEs run the doctor by the command."""
        job = run(CHIME_RUN, "-n", str(n), "--no-prefix", *command, DOCTOR, "--job", "--json", *wait, **environment)
        self.assertTrue(job.stdout.startswith("{"), job)
        return job.returncode, report_of(job.stdout)

    def seen_where_pe_1(self, fault, what):
        """The only new line of the report, of that check, where PE 1 does `fault`."""
        after = self.job("sh", "-c", BECAUSE % fault)[1]
        self.assertEqual(set(after) - set(self.job()[1]), {("warning", what)}, after)
        return after["warning", what]["seen"]

    def test_equal_pes_differ_in_nothing(self):
        code, report = self.job(n=4)
        of_hosts = {"locked memory", "/dev/shm", "open files", "PMIx", "libfabric", "hwloc", "loopback", "Slurm", "IOMMU"}
        self.assertFalse({what for _, what in report} - of_hosts, report)  # the machine may have faults of its own
        self.assertEqual(code, 1 if any(level == "wrong" for level, _ in report) else 0)

    def test_another_version_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / f"{SONAME}.99").write_text("")
            (pathlib.Path(folder) / SONAME).symlink_to(f"{SONAME}.99")
            fault = BECAUSE % f"export LD_LIBRARY_PATH={folder}"
            job = run(CHIME_RUN, "-n", "2", "--no-prefix", "sh", "-c", fault, DOCTOR, "--job", *WAIT)
        one = r"\(interface \d+\) on \S+"
        self.assertRegex(job.stdout, rf"wrong +Chime: \d+\.\d+\.\d+ {one} \(PE 0\), [\d.]+\.99 {one} \(PE 1\)\n +mend: ")
        self.assertEqual(job.returncode, 1)

    def test_other_limits_are_named(self):
        self.assertRegex(self.seen_where_pe_1("ulimit -n 1234", "open files"), r"1234 on \S+ \(PE 1\)")
        self.assertRegex(self.seen_where_pe_1("ulimit -l 64", "locked memory"), r"64 KiB on \S+ \(PE 1\)")

    def test_a_pe_that_does_not_come_is_named(self):
        code, after = self.job("sh", "-c", BECAUSE % "exec sleep 20", wait=["--wait", "5"])
        self.assertEqual((code, set(after) & {("wrong", "PEs")}), (1, {("wrong", "PEs")}))
        self.assertIn("of 2 PEs PE 1 has not come", after["wrong", "PEs"]["seen"])

    def test_a_pe_that_ends_is_named(self):
        job = run(CHIME_RUN, "--keep-going", "-n", "2", "--no-prefix", "sh", "-c", BECAUSE % "exit 3", DOCTOR, "--job", "--json", *WAIT)
        after = report_of(job.stdout)
        self.assertIn("PE 1", after["wrong", "PEs"]["seen"])
        self.assertIn("3", after["wrong", "PEs"]["seen"].split("come")[1])

    def test_a_pe_that_is_refused_lets_pe_0_report(self):
        began = time.monotonic()
        job = run(CHIME_RUN, "-n", "2", "--no-prefix", "sh", "-c", BECAUSE % "export CHIME_RUN_ADDRESS=nobody", DOCTOR, "--job", "--json", "--wait", "5")
        self.assertTrue(job.stdout.startswith("{"), job)
        self.assertIn("of 2 PEs PE 1 has not come", report_of(job.stdout)["wrong", "PEs"]["seen"])
        self.assertIn("cannot reach chime-run", job.stderr)
        self.assertEqual(job.returncode, 1)
        self.assertLess(time.monotonic() - began, 60)

    def test_pes_without_launcher_let_pe_0_report_alone(self):
        script = 'export CHIME_RUN_ADDRESS=nobody; "$0" "$@"; echo "PE $CHIME_RUN_PE: code $?" >&2'
        job = run(CHIME_RUN, "--keep-going", "-n", "3", "--no-prefix", "sh", "-c", script, DOCTOR, "--job", "--json", "--wait", "1")
        self.assertEqual(set(report_of(job.stdout)), {("wrong", "launcher")}, job)
        for pe in range(3):
            self.assertIn(f"PE {pe}: code 1\n", job.stderr)

    def test_all_pes_have_one_exit_code(self):
        script = '"$0" "$@" >/dev/null; echo "code $?"'
        for fault, code in (("true", self.job()[0]), ("export CHIME_NIC_SL=high", 1)):
            both = f'{fault}; {script}'
            job = run(CHIME_RUN, "-n", "3", "--no-prefix", "sh", "-c", both, DOCTOR, "--job", *WAIT)
            self.assertEqual(job.stdout.split("\n")[:-1], [f"code {code}"] * 3, job)

    def test_a_lost_launcher_is_named(self):
        job = run(DOCTOR, "--job", "--wait", "1", CHIME_RUN_ADDRESS="nobody", CHIME_RUN_TOKEN="0" * 64, CHIME_RUN_PE="0", CHIME_RUN_NPES="2")
        self.assertEqual(job.returncode, 1)
        self.assertIn("launcher: cannot reach chime-run", job.stdout)

    def test_brief_leaves_out_what_is_ok(self):
        job = run(CHIME_RUN, "-n", "2", "--no-prefix", DOCTOR, "--job", "--brief", "--json", *WAIT)
        self.assertFalse([one for one in json.loads(job.stdout)["findings"] if one["level"] == "ok"])

    def test_wait_belongs_to_jobs(self):
        self.assertEqual(run(DOCTOR, "--wait", "3").returncode, 2)

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_under_mpirun(self):
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        job = run(*MPIRUN, "--oversubscribe", "--timeout", "100", "-n", "2", "sh", "-c",
                  'if [ "$PMIX_RANK" = 1 ]; then ulimit -n 1234; fi; exec "$0" "$@"', DOCTOR, "--job", "--json", *WAIT, **allowed)
        self.assertIn("(PE 1)", report_of(job.stdout)["warning", "open files"]["seen"], job)
        self.assertEqual(job.returncode, self.job()[0])
        self.assertNotIn("improperly", job.stderr)  # each PE has taken leave of the launcher


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
