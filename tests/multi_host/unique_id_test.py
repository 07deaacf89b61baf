"""Jobs that no launcher starts: PEs on several hosts that get a unique id by a file."""
import os
import subprocess
import tempfile
import time
import unittest

from hosts_of_a_test import HOSTS, PATIENCE_S, LeavesNothing, places_of

PE = os.environ["TESTED_PE"]


class OnHosts(LeavesNothing):
    def start(self, hosts, folder, **variables):
        """PE i on the host whose number is hosts[i]."""
        return [subprocess.Popen([HOSTS, "on", f"host{host}", PE, "meets", folder, str(pe), str(len(hosts))],
                                 env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for pe, host in enumerate(hosts)]

    def meet(self, hosts, **variables):
        with tempfile.TemporaryDirectory() as folder:
            outcomes = [(*pe.communicate(timeout=PATIENCE_S), pe.returncode) for pe in self.start(hosts, folder, **variables)]
        self.assertEqual([code for _, _, code in outcomes], [0] * len(hosts), outcomes)
        return places_of("".join(out for out, _, _ in outcomes))

    def test_pes_meet_and_know_their_local_peers(self):
        self.assertEqual(self.meet([0, 1, 1]), ["0:0/1", "1:0/2", "1:1/2"])

    def test_the_id_may_come_from_any_host(self):
        self.assertEqual(self.meet([2, 0, 1, 0]), ["2:0/1", "0:0/2", "1:0/1", "0:1/2"])

    def test_the_interface_may_be_named(self):
        self.assertEqual(self.meet([0, 1], CHIME_BOOTSTRAP_IF="eth0"), ["0:0/1", "1:0/1"])

    def test_an_interface_that_leads_nowhere_is_named(self):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            pes = self.start([0, 1], folder, CHIME_BOOTSTRAP_IF="lo", CHIME_INIT_TIMEOUT="2")
            errors = [pe.communicate(timeout=PATIENCE_S)[1] for pe in pes]
        self.assertEqual([pe.returncode for pe in pes], [1, 1], errors)
        self.assertIn("127.0.0.1", errors[1])
        self.assertIn("CHIME_BOOTSTRAP_IF", errors[1])
        self.assertLess(time.monotonic() - begin, PATIENCE_S / 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
