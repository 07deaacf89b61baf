"""chime-doctor --job on three hosts that differ: each fault is named by its line."""
import ipaddress
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from hosts_of_a_test import HERE, HOSTS, PATIENCE_S, SHELL, skip, start_shells

sys.path.insert(0, os.path.join(HERE, "..", "unit", "chime_doctor"))
import trees

CHIME_RUN, DOCTOR, COMPILER = (os.environ[name] for name in ("TESTED_CHIME_RUN", "TESTED_DOCTOR", "TESTED_COMPILER"))
NAMES = ["host0", "host1", "host2"]
# The hosts of these tests are namespaces of one machine: that is found, too.
ALWAYS = {("warning", "network namespaces", "")}
TREES = pathlib.Path(HERE) / "../unit/chime_doctor/trees"


def network_of(address):
    return str(ipaddress.ip_network(f"{address}/{64 if ':' in address else 24}", strict=False))


def gid_of(address):
    """As the kernel writes it."""
    return ipaddress.ip_address(address if ":" in address else f"::ffff:{address}").exploded


def on(host, *command):
    subprocess.run([HOSTS, "on", host, *command], check=True)


class OnHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        start_shells(NAMES)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def report(self, *arguments, on_host2="", wait="40", n=3):
        """(exit code, lines that are not ok, as {(level, what, where): finding}). The PEs of host2 do something before the doctor."""
        script = f'[ "$(hostname)" != host2 ] || {{ {on_host2 or ":"}; }}; exec "$0" "$@"'
        job = subprocess.run([CHIME_RUN, "--agent-command", SHELL, "--hosts", ",".join(NAMES), "-n", str(n), "--no-prefix", "sh", "-c", script,
                              DOCTOR, "--job", "--json", "--wait", wait, *arguments],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=4 * PATIENCE_S, check=False)
        self.assertTrue(job.stdout.startswith("{"), job)
        found = json.loads(job.stdout)
        self.assertEqual(job.returncode, found["wrong"] > 0, job)
        # On a busy machine a library may answer late: that line is seen in unit.chime_doctor.real_faults.
        lines = {(one["level"], one["what"], one["where"]): one for one in found["findings"]
                 if one["level"] != "ok" and one["what"] != "late answer"}
        for line in lines.values():
            self.assertTrue(line["mend"], line)
        return job.returncode, lines

    def only(self, line, before, **options):
        """What the report says where it differs by this line alone from the one before."""
        after = self.report(**options)[1]
        self.assertEqual(set(after) - set(before), {line}, after)
        return after[line]["seen"]

    # Between hosts

    def test_equal_hosts_differ_in_nothing(self):
        for n in (3, 7):
            found = {line for line in self.report(n=n)[1] if not line[2].endswith("all 3 hosts")}
            self.assertEqual(found, ALWAYS)

    def drop(self, host, of):
        """What `host` sends to another host's addresses goes nowhere, as where a firewall drops it."""
        number = int(of[-1]) + 1
        for address in (f"10.77.0.{number}", f"fd77::{number}"):
            on(host, "ip", "neigh", "replace", address, "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent")

    def test_a_firewall_between_two_hosts_is_named(self):
        self.drop("host1", "host2")  # both reach host0, where chime-run is
        code, found = self.report(wait="20")
        lost = {line for line in found if line[1] == "TCP"}
        self.assertEqual((code, lost), (1, {("wrong", "TCP", "host1"), ("wrong", "TCP", "host2")}))
        to_host2 = found["wrong", "TCP", "host2"]
        self.assertIn("not reached from host1: 10.77.0.3 (eth0): no answer", to_host2["seen"])
        self.assertIn("on host2: nft list ruleset", to_host2["mend"])

    def test_a_missing_route_between_two_hosts_is_named(self):
        on("host1", "ip", "route", "add", "unreachable", "10.77.0.3")
        on("host1", "ip", "route", "add", "unreachable", "fd77::3")
        code, found = self.report(wait="20")
        self.assertEqual(code, 1)
        to_host2 = found["wrong", "TCP", "host2"]
        self.assertIn("not reached from host1: 10.77.0.3 (eth0): No route to host", to_host2["seen"])
        self.assertIn("on host1: ip route get 10.77.0.3", to_host2["mend"])

    def test_a_firewall_rule_is_named(self):
        if subprocess.run([HOSTS, "on", "host2", "sh", "-c", "nft add table inet t"], capture_output=True, check=False).returncode != 0:
            self.skipTest("there is no nft (Debian: nftables), or the kernel has no nf_tables")
        on("host2", "nft", "add chain inet t in { type filter hook input priority 0; }; add rule inet t in tcp flags & (syn|ack) == syn tcp dport != 2222 drop")
        code, found = self.report(wait="20")
        self.assertEqual((code, {line for line in found if line[1] == "TCP"}), (1, {("wrong", "TCP", "host2")}))
        self.assertIn("not reached from host0, host1: 10.77.0.3 (eth0): no answer", found["wrong", "TCP", "host2"]["seen"])

    def test_an_address_that_slows_starts_down_is_named(self):
        # A network of its own that all hosts would reach by an address of host2's: listed first, and answered by nobody.
        on("host2", "ip", "addr", "flush", "dev", "eth0")
        for address in ("10.88.0.3/24", "10.77.0.3/24"):
            on("host2", "ip", "addr", "add", address, "dev", "eth0")
        for host in ("host0", "host1"):
            on(host, "ip", "route", "add", "10.88.0.3", "dev", "eth0")
            on(host, "ip", "neigh", "replace", "10.88.0.3", "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent")
        found = self.report(wait="20")[1]
        self.assertIn(("warning", "TCP", "host2"), found)
        self.assertIn("from host0, host1 its address 10.88.0.3 (eth0) is silent", found["warning", "TCP", "host2"]["seen"])

    def test_a_host_without_descriptors_is_named(self):
        for i in range(100):
            on("host0", "ip", "addr", "add", f"10.78.0.{i + 1}/24", "dev", "eth0")
        for host in ("host1", "host2"):
            on(host, "ip", "route", "add", "10.78.0.0/24", "dev", "eth0")
        found = self.report(on_host2="ulimit -n 64")[1]
        self.assertEqual({line for line in found if line[1] == "TCP"}, {("warning", "TCP", "host2")})
        self.assertRegex(found["warning", "TCP", "host2"]["seen"], r"^\d+ of its \d+ attempts to reach others were not made: Too many open files")

    # Its agent, which ssh has started, goes on.
    def test_a_pe_that_does_not_reach_the_launcher_is_named(self):
        code, found = self.report(on_host2="export CHIME_RUN_ADDRESS=tcp:10.77.0.99:4711", wait="8")
        self.assertEqual(code, 1)
        self.assertIn("of 3 PEs PE 2 has not come", found["wrong", "PEs", ""]["seen"])

    def test_an_interface_that_is_not_there_is_named(self):
        code, found = self.report(on_host2="export CHIME_BOOTSTRAP_IF=eth7")
        self.assertEqual(code, 1)
        self.assertIn("no such interface is up", found["wrong", "TCP", "host2"]["seen"])

    def test_a_clock_that_is_wrong_is_named(self):
        source = self.folder / "clock.c"
        source.write_text("""#define _GNU_SOURCE
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            int clock_gettime(clockid_t clock, struct timespec* time) {
              const int failed = (int)syscall(SYS_clock_gettime, clock, time);
              if (clock == CLOCK_REALTIME) time->tv_sec += 7;
              return failed;
            }
            """)
        library = self.folder / "clock.so"
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, source], check=True)
        seen = self.only(("warning", "clock", "host2"), self.report()[1], on_host2=f"export LD_PRELOAD={library}")
        self.assertRegex(seen, r"^7 s ahead of the clock of host0 \(to within \S+ ms\)")

    def test_a_smaller_shared_memory_is_named(self):
        before = self.report()[1]
        on("host2", "mount", "-o", "remount,size=900m", "/dev/shm")
        seen = self.only(("warning", "/dev/shm", ""), before)
        self.assertIn("2097152 KiB on host0, host1 (PEs 0-1), 921600 KiB on host2 (PE 2)", seen)

    # Recorded hosts: the healthy tree of unit/chime_doctor, without its InfiniBand port

    def record(self, host, ports, *faults):
        """A tree for that host, whose RoCE ports have these addresses of interfaces: one or two pairs."""
        tree = trees.Tree(self.folder / host)
        tree.put((TREES / "healthy").read_text().splitlines())
        interfaces = [{"name": interface, "addresses": [address], "networks": [network_of(address)]} for address, interface in ports]
        tree.put(["- /sys/class/infiniband/mlx5_1", "$NIC0/infiniband/mlx5_0/hca_type: MT4129", "$NIC0/infiniband/mlx5_0/fw_ver: 28.39.1002",
                  *(f"$ROCE/gids/{index}: {gid_of(ports[0][0])}" for index in (2, 3)),
                  f'answers interfaces: {json.dumps([{"name": "lo", "addresses": ["127.0.0.1"]}, *interfaces])}'])
        if len(ports) > 1:
            tree.put(["/sys/class/infiniband/mlx5_1 -> $NIC1/infiniband/mlx5_1", "$IB/link_layer: Ethernet", f"$IB/gids/0: {gid_of(ports[1][0])}",
                      "$IB/gid_attrs/types/0: RoCE v2", "$NIC1/infiniband/mlx5_1/tc/1/traffic_class: Global tclass=106"])
        tree.put(faults)

    def recorded(self, address_of_host2, *faults, interface="eth0", network="10.77.0"):
        return self.recorded_at([f"{network}.1", f"{network}.2", address_of_host2], *faults, interface=interface)

    def recorded_at(self, addresses, *faults_of_host2, interface):
        """Lines that are not ok, as {(level, what): text}, without those of single hosts."""
        for host, address in zip(NAMES, addresses):
            self.record(host, [(address, interface)], *(faults_of_host2 if host == "host2" else ()))
        return {(level, what): seen for level, what, _, seen in self.found()}

    def found(self):
        """Lines that are not ok of the hosts that were recorded: (level, what, where, text)."""
        script = f'exec "$0" "$@" --root {self.folder}/$(hostname)'
        job = subprocess.run([CHIME_RUN, "--agent-command", SHELL, "--hosts", ",".join(NAMES), "-n", "3", "--no-prefix", "sh", "-c", script,
                              DOCTOR, "--job", "--json", "--wait", "20"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=4 * PATIENCE_S, check=False)
        self.assertTrue(job.stdout.startswith("{"), job)
        return [(one["level"], one["what"], one["where"], one["seen"]) for one in json.loads(job.stdout)["findings"]
                if one["level"] != "ok" and (one["level"], one["what"], "") not in ALWAYS]

    def test_equal_recorded_hosts_differ_in_nothing(self):
        self.assertEqual(self.recorded("10.77.0.3"), {})

    def test_other_drivers_and_firmware_are_named(self):
        line = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build"
        found = self.recorded("10.77.0.3", f"/proc/driver/nvidia/version: {line}", "$NIC0/infiniband/mlx5_0/fw_ver: 28.36.1700",
                              "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15:", "- /usr/lib/x86_64-linux-gnu/libcuda.so.1",
                              "/usr/lib/x86_64-linux-gnu/libcuda.so.1 -> /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15")
        self.assertEqual(set(found), {("warning", "NVIDIA driver"), ("warning", "firmware of MT4129")})
        self.assertIn("550.54.15 on host2 (PE 2)", found["warning", "NVIDIA driver"])
        self.assertIn("28.36.1700 on host2 (PE 2)", found["warning", "firmware of MT4129"])

    def test_a_gid_of_a_subnet_that_no_way_leads_to_is_named(self):
        found = self.recorded("10.99.0.3")
        self.assertEqual(set(found), {("wrong", "RoCE addresses")})
        self.assertIn("10.99.0.3 is not reached by TCP from host0, host1 through eth0", found["wrong", "RoCE addresses"])
        self.assertIn("its subnet is 10.99.0.0/24", found["wrong", "RoCE addresses"])

    def test_a_route_that_leaves_by_no_nic_is_named(self):
        # A network of NICs that is not connected. Routes lead to its addresses by eth0, so that TCP gets there and RoCE does not.
        for i, host in enumerate(NAMES):
            on(host, "ip", "link", "add", "fabric0", "type", "veth", "peer", "name", "nowhere")
            on(host, "ip", "addr", "add", f"10.99.0.{i + 1}/24", "dev", "fabric0")
            for end in ("fabric0", "nowhere"):
                on(host, "ip", "link", "set", end, "up")
            for other in {0, 1, 2} - {i}:
                on(host, "ip", "route", "add", f"10.99.0.{other + 1}/32", "via", f"10.77.0.{other + 1}")
        found = self.recorded("10.99.0.3", interface="fabric0", network="10.99.0")
        self.assertEqual(set(found), {("wrong", "RoCE addresses")})
        self.assertRegex(found["wrong", "RoCE addresses"], r"^10\.99\.0\.\d is not reached by TCP from host\d through fabric0: ")

    def test_a_labelled_address_of_a_nic_is_no_fault(self):
        for i, host in enumerate(NAMES):
            on(host, "ip", "addr", "add", f"10.99.0.{i + 1}/24", "dev", "eth0", "label", "eth0:roce")
        self.assertEqual(self.recorded("10.99.0.3", interface="eth0:roce", network="10.99.0"), {})

    def test_routes_decide_where_the_interface_of_a_nic_is_not_there(self):
        self.assertEqual(self.recorded("10.77.0.3", interface="gone0"), {})

    def test_routes_by_source_address_are_no_fault(self):
        # Only what comes from a NIC's own address, the second of its interface, has a route to the others'. No switch leads there directly.
        addresses = [f"10.99.{i}.1" for i in range(3)]
        for i, host in enumerate(NAMES):
            on(host, "ip", "addr", "add", f"{addresses[i]}/24", "dev", "eth0")
            on(host, "ip", "rule", "add", "from", addresses[i], "lookup", "100")
            for other in {0, 1, 2} - {i}:
                on(host, "ip", "route", "add", f"10.99.{other}.0/24", "via", f"10.77.0.{other + 1}", "dev", "eth0", "table", "100")
                on(host, "ip", "neigh", "replace", addresses[other], "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent")
        self.assertEqual(self.recorded_at(addresses, interface="eth0"), {})

    def test_ipv6_routes_by_source_address_are_no_fault(self):
        addresses = [f"fd99:{i + 1}::1" for i in range(3)]
        for i, host in enumerate(NAMES):
            on(host, "ip", "addr", "add", f"{addresses[i]}/64", "dev", "eth0", "nodad")
            on(host, "ip", "-6", "rule", "add", "from", addresses[i], "lookup", "100")
            for other in {0, 1, 2} - {i}:
                on(host, "ip", "route", "add", f"fd99:{other + 1}::/64", "via", f"fd77::{other + 1}", "dev", "eth0", "table", "100")
        self.assertEqual(self.recorded_at(addresses, interface="eth0"), {})
        on("host2", "ip", "-6", "rule", "del", "from", addresses[2])  # which has no other way
        (line,) = self.found()
        self.assertEqual(line[:3], ("wrong", "RoCE addresses", "host2 mlx5_0 port 1"))
        self.assertIn("fd99:3::1 is not reached by TCP from host0, host1 through eth0: ", line[3])
        self.assertIn("TCP through eth0 from fd99:3::1 does not reach host0, host1: Network is unreachable", line[3])

    def test_an_ipv6_gid_that_no_way_leads_to_is_named(self):
        found = self.recorded_at(["fd77::1", "fd77::2", "fd99:2::3"], interface="eth0")
        self.assertEqual(set(found), {("wrong", "RoCE addresses")})
        self.assertIn("fd99:2::3 is not reached by TCP from host0, host1 through eth0: ", found["wrong", "RoCE addresses"])
        self.assertIn("its subnet is fd99:2::/64", found["wrong", "RoCE addresses"])

    def test_a_dead_second_nic_is_named(self):
        # All are in subnets of their own, and reach each other until what goes to host2's second one goes nowhere.
        ports = {"host0": ["10.91.0.1"], "host1": ["10.92.0.1"], "host2": ["10.93.0.1", "10.94.0.1"]}
        for host in NAMES:
            for other, addresses in ports.items():
                for address in addresses:
                    if other == host:
                        on(host, "ip", "addr", "add", f"{address}/24", "dev", "eth0")
                    else:
                        on(host, "ip", "route", "add", network_of(address), "dev", "eth0")
            self.record(host, [(address, "eth0") for address in ports[host]])
        self.assertEqual(self.found(), [])
        for host in ("host0", "host1"):
            on(host, "ip", "neigh", "replace", "10.94.0.1", "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent")
        (line,) = self.found()
        self.assertEqual(line[:3], ("wrong", "RoCE addresses", "host2 mlx5_1 port 1"))
        self.assertIn("10.94.0.1 is not reached by TCP from host0, host1 through eth0: no answer", line[3])
        self.assertIn("TCP through eth0 from 10.94.0.1 does not reach host0, host1: no answer", line[3])

    def test_a_nic_that_chime_nic_excludes_is_not_judged(self):
        # Nothing leads to the subnet of the second ones.
        for choice in ((), ('answers environment: {"CHIME_NIC": "mlx5_0:1"}',)):
            for i, host in enumerate(NAMES):
                self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) if i == 0 else self.folder
                self.record(host, [(f"10.77.0.{i + 1}", "eth0"), (f"10.66.0.{i + 1}", "gone0")], *choice)
            lines = {line[:2] for line in self.found()}
            # The NIC that is left is far from one of its GPUs.
            self.assertEqual(lines, {("warning", "nearest NIC")} if choice else {("wrong", "RoCE addresses")})

    def test_a_gid_of_a_subnet_behind_a_router_is_no_fault(self):
        on("host2", "ip", "addr", "add", "10.99.0.3/24", "dev", "eth0")
        for host in ("host0", "host1"):
            on(host, "ip", "route", "add", "10.99.0.0/24", "dev", "eth0")
        self.assertEqual(self.recorded("10.99.0.3"), {})


if __name__ == "__main__":
    done = unittest.main(verbosity=2, exit=False).result
    if done.wasSuccessful() and done.skipped:
        skip(done.skipped[0][1])
    sys.exit(not done.wasSuccessful())
