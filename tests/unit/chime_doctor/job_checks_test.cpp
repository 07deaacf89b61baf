// The checks of a job are functions of what its PEs said: each finds its fault, and nothing where
// there is none. Facts of two or three hosts, of two PEs each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tools/chime-doctor/job/checks/checks.hpp"
#include "tools/chime-doctor/job/facts.hpp"
#include "tools/chime-doctor/job/names.hpp"
#include "tools/chime-doctor/job/plan.hpp"
#include "tools/chime-doctor/job/targets.hpp"

namespace chime::doctor {
namespace {

using Outcome = PathFacts::Outcome;

Job job_on(int n_hosts) {
  Job job;
  job.n_pes = 2 * n_hosts;
  for (int pe = 0; pe < job.n_pes; ++pe) {
    const std::string host = std::string(1, static_cast<char>('a' + pe / 2));
    PeFacts facts{pe,
                  host,
                  "kernel-" + host + " net:[1]",
                  "kernel-" + host + " pid:[1]",
                  "0.1.0",
                  23,
                  job.n_pes,
                  {{"locked memory", kNoLimit}, {"open files", 65536}, {"/dev/shm", 8ull << 30}},
                  std::nullopt};
    if (pe % 2 == 0) {
      facts.of_host.emplace();
      facts.of_host->versions = {{"NVIDIA driver", "580.76.05"},
                                 {"firmware of MT4129", "28.39.1002"}};
      facts.of_host->n_ok = 20;
    }
    job.pes.push_back(facts);
  }
  return job;
}

HostFacts& host(Job& job, int place) {
  return *job.pes[static_cast<std::size_t>(2 * place)].of_host;
}

// Between the hosts at two places.
PathFacts path(int from, int to, Outcome outcome, const std::string& address = "10.0.0.1") {
  return {2 * from, 2 * to, "eth0",  address,
          4711,     true,   outcome, outcome == Outcome::kOpen ? "" : "no answer"};
}

// The one line that is not ok.
Finding only_fault(const Findings& findings) {
  Findings bad;
  for (const Finding& finding : findings)
    if (finding.level != Level::kOk) bad.push_back(finding);
  EXPECT_EQ(bad.size(), 1u);
  if (bad.size() != 1) return ok("", "", "");
  EXPECT_NE(bad[0].mend, "");
  return bad[0];
}

void expect_fault(const Findings& findings, Level level, const std::string& what,
                  const std::string& where, const std::string& part) {
  const Finding fault = only_fault(findings);
  EXPECT_EQ(fault.level, level);
  EXPECT_EQ(fault.what, what);
  EXPECT_EQ(fault.where, where);
  EXPECT_NE(fault.seen.find(part), std::string::npos) << fault.seen;
}

void expect_ok(const Findings& findings) {
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.level, Level::kOk) << finding.what << ": " << finding.seen;
    EXPECT_EQ(finding.mend, "");
  }
}

TEST(CheckJoined, NamesPesThatAreAbsentAndWhy) {
  Job job = job_on(2);
  expect_ok(check_joined(job));
  job.pes.resize(2);
  job.absent = {{2, "no word of it in time"}, {3, "no word of it in time"}};
  expect_fault(check_joined(job), Level::kWrong, "PEs", "",
               "of 4 PEs PEs 2-3 have not come: no word of it in time");
}

TEST(CheckJoined, FindsALauncherThatMakesEachProcessAJob) {
  Job job = job_on(1);
  job.n_pes = 1;
  job.pes.resize(1);
  job.pes[0].n_started = 4;
  expect_fault(check_joined(job), Level::kWrong, "PEs", "", "4 processes");
}

TEST(CheckHosts, FindsContainersOfOneMachine) {
  Job job = job_on(2);
  expect_ok(check_hosts(job));
  for (int pe : {2, 3}) job.pes[static_cast<std::size_t>(pe)].node = "kernel-a net:[2]";
  expect_fault(check_hosts(job), Level::kWarning, "network namespaces", "", "PEs 0-1 and PEs 2-3");
}

TEST(CheckHosts, FindsTwoMachinesOfOneName) {
  Job job = job_on(2);
  for (PeFacts& pe : job.pes) pe.host = "node";
  expect_fault(check_hosts(job), Level::kWarning, "host names", "", "both called node");
}

TEST(CheckHosts, FindsPesThatDoNotSeeEachOthersProcesses) {
  Job job = job_on(2);
  job.pes[3].process_space = "kernel-b pid:[2]";
  expect_fault(check_hosts(job), Level::kWarning, "process ids", "b", "PEs 2-3");
}

TEST(CheckHosts, NamesAHostThatNobodyLooksAt) {
  Job job = job_on(2);
  job.pes[2].of_host.reset();
  expect_fault(check_hosts(job), Level::kWarning, "host", "b",
               "no PE has looked at it: another job of chime-doctor does");
}

TEST(CheckHosts, BlamesAPeThatHasNotComeForAHostThatNobodyLooksAt) {
  Job job = job_on(2);
  job.pes.erase(job.pes.begin() + 2);  // it has claimed the host
  job.absent = {{2, "no word of it in time"}};
  expect_fault(check_hosts(job), Level::kWarning, "host", "b",
               "no PE has looked at it: the one that was to has not come (PE 2)");
}

TEST(CheckSameVersions, NamesEachVersionAndItsHosts) {
  Job job = job_on(3);
  expect_ok(check_same_versions(job));
  job.pes[5].chime = "0.0.9";
  expect_fault(check_same_versions(job), Level::kWrong, "Chime", "",
               "0.1.0 (interface 23) on a, b, c (PEs 0-4), 0.0.9 (interface 23) on c (PE 5)");
}

TEST(CheckSameVersions, FindsAnotherInterface) {
  Job job = job_on(2);
  job.pes[3].interface = 24;
  expect_fault(check_same_versions(job), Level::kWrong, "Chime", "", "0.1.0 (interface 24) on b");
}

TEST(CheckSameVersions, ComparesDriversAndFirmwareOfHosts) {
  Job job = job_on(2);
  host(job, 1).versions["NVIDIA driver"] = "550.54.15";
  expect_fault(check_same_versions(job), Level::kWarning, "NVIDIA driver", "", "550.54.15 on b");
  job = job_on(2);
  host(job, 0).versions["firmware of MT4129"] = "28.36.1700";
  expect_fault(check_same_versions(job), Level::kWarning, "firmware of MT4129", "",
               "28.36.1700 on a");
}

TEST(CheckSameVersions, DoesNotMissDriversWhereThereIsNoDevice) {
  Job job = job_on(2);
  host(job, 1).versions.clear();
  expect_ok(check_same_versions(job));
}

TEST(CheckSameLimits, NamesThePesWithTheLeast) {
  Job job = job_on(2);
  expect_ok(check_same_limits(job));
  job.pes[2].limits["locked memory"] = job.pes[3].limits["locked memory"] = 64 << 10;
  expect_fault(check_same_limits(job), Level::kWarning, "locked memory", "",
               "unlimited on a (PEs 0-1), 64 KiB on b (PEs 2-3)");
  job = job_on(2);
  job.pes[1].limits["open files"] = 1024;
  expect_fault(check_same_limits(job), Level::kWarning, "open files", "", "1024 on a (PE 1)");
  job = job_on(2);
  job.pes[0].limits["/dev/shm"] = 64 << 20;
  expect_fault(check_same_limits(job), Level::kWarning, "/dev/shm", "", "65536 KiB on a (PE 0)");
}

TEST(CheckSameLimits, LetsMachinesHaveSomeMoreMemory) {
  Job job = job_on(2);
  for (const std::uint64_t more : {9ull << 30, (16ull << 30) - 1}) {
    job.pes[2].limits["/dev/shm"] = job.pes[3].limits["/dev/shm"] = more;
    expect_ok(check_same_limits(job));
  }
  job.pes[2].limits["/dev/shm"] = job.pes[3].limits["/dev/shm"] = 16ull << 30;  // twice as much
  expect_fault(check_same_limits(job), Level::kWarning, "/dev/shm", "", "8388608 KiB on a");
  for (PeFacts& pe : job.pes) pe.limits["/dev/shm"] = 0;
  expect_ok(check_same_limits(job));
}

TEST(CheckClocks, StatesHowFarAndHowSure) {
  Job job = job_on(2);
  job.found.clocks = {{2, 0, 0.004, 0.0001}};
  expect_ok(check_clocks(job));
  EXPECT_EQ(check_clocks(job)[0].seen, "1 of 1 other host compared: within 4.1 ms of the one of a");
  job.found.clocks = {{2, 0, -3.5, 0.0001}};
  expect_fault(check_clocks(job), Level::kWarning, "clock", "b",
               "3.5 s behind the clock of a (to within 0.1 ms)");
}

TEST(CheckClocks, CountsTheHostsThatWereCompared) {
  Job job = job_on(4);
  job.found.clocks = {{2, 0, 0.004, 0.0001}, {6, 0, -0.002, 0.0001}};
  expect_ok(check_clocks(job));
  EXPECT_EQ(check_clocks(job)[0].seen,
            "2 of 3 other hosts compared: within 4.1 ms of the one of a");
}

TEST(CheckClocks, DoesNotJudgeByASlowAnswer) {
  Job job = job_on(2);
  job.found.clocks = {{2, 0, 0.4, 0.35}};
  expect_ok(check_clocks(job));
}

TEST(CheckPaths, NamesTheHostThatIsNotReachedAndFromWhere) {
  Job job = job_on(3);
  for (int from : {0, 1, 2})
    for (int to : {0, 1, 2})
      if (from != to) job.found.paths.push_back(path(from, to, Outcome::kOpen));
  expect_ok(check_paths(job));
  for (PathFacts& one : job.found.paths)
    if (one.to == 4) one = path(one.from / 2, 2, Outcome::kSilent);
  expect_fault(check_paths(job), Level::kWrong, "TCP", "c",
               "not reached from a, b: 10.0.0.1 (eth0): no answer");
}

TEST(CheckPaths, NamesASilentAddressBeforeOneThatAnswers) {
  Job job = job_on(2);
  job.found.paths = {path(0, 1, Outcome::kSilent, "172.17.0.1"), path(0, 1, Outcome::kOpen),
                     path(1, 0, Outcome::kClosed, "172.17.0.1"), path(1, 0, Outcome::kOpen)};
  expect_fault(check_paths(job), Level::kWarning, "TCP", "b", "from a its address 172.17.0.1");
}

TEST(CheckPaths, NamesAHostThatHadNoDescriptorLeft) {
  Job job = job_on(2);
  job.found.paths = {path(0, 1, Outcome::kOpen), path(1, 0, Outcome::kOpen),
                     path(1, 0, Outcome::kNotTried, "10.0.0.2"),
                     path(1, 0, Outcome::kNotTried, "10.0.0.3")};
  for (const std::size_t i : {2u, 3u}) job.found.paths[i].why = "Too many open files";
  expect_fault(check_paths(job), Level::kWarning, "TCP", "b",
               "2 of its 3 attempts to reach others were not made: Too many open files");
}

TEST(CheckPaths, AdvisesByWhatWasExhausted) {
  Job job = job_on(2);
  job.found.paths = {path(0, 1, Outcome::kOpen), path(1, 0, Outcome::kNotTried)};
  const std::map<int, std::string> mends = {{EMFILE, "ulimit -n 65536 there"},
                                            {ENFILE, "fs.file-max"},
                                            {ENOBUFS, "leave memory to the kernel"},
                                            {ENOMEM, "leave memory to the kernel"}};
  for (const auto& [error, part] : mends) {
    job.found.paths[1].why = std::generic_category().message(error);
    const std::string mend = only_fault(check_paths(job)).mend;
    EXPECT_NE(mend.find(part), std::string::npos) << mend;
  }
  job.found.paths.push_back(path(1, 0, Outcome::kNotTried));
  job.found.paths[2].why = std::generic_category().message(EMFILE);
  EXPECT_EQ(check_paths(job).size(), 2u);  // for each reason what mends it
}

TEST(CheckPaths, NamesAHostThatCannotListenAndOneThatDidNotTry) {
  Job job = job_on(2);
  host(job, 1).why_not_listening = "no interface but loopback has an address";
  expect_fault(check_paths(job), Level::kWrong, "TCP", "b", "no interface but loopback");
  job = job_on(2);
  job.why_no_pairs[2] = "no word of it in time";
  expect_fault(check_paths(job), Level::kWarning, "TCP", "b", "what it reaches is not known");
}

// ---- NICs

PortFacts roce(const std::string& address, const std::string& network) {
  return {"mlx5_0 port 1", true, "", address, network, 0};
}
PortFacts infiniband(const std::string& prefix, int lid) {
  return {"mlx5_0 port 1", false, prefix + ":0ac0:ebff:feda:1cfb", "", "", lid};
}

TEST(CheckPorts, SaysNothingWithoutNics) { EXPECT_TRUE(check_ports(job_on(2)).empty()); }

TEST(CheckPorts, NamesAHostWithoutNic) {
  Job job = job_on(2);
  host(job, 0).ports = {roce("10.1.0.1", "10.1.0.0/24")};
  expect_fault(check_ports(job), Level::kWarning, "NICs", "", "b has no active port");
}

// All PEs of the host at that place.
void set_nic(Job& job, int place, const std::string& nic) {
  for (const int pe : {2 * place, 2 * place + 1}) job.pes[static_cast<std::size_t>(pe)].nic = nic;
}

TEST(CheckPorts, JudgesNoneThatChimeNicExcludes) {
  Job job = job_on(2);
  host(job, 0).ports = {roce("10.1.0.1", "10.1.0.0/24"), roce("10.8.0.1", "10.8.0.0/24")};
  host(job, 1).ports = {roce("10.1.0.2", "10.1.0.0/24"), roce("10.9.0.2", "10.9.0.0/24")};
  for (const int place : {0, 1}) host(job, place).ports[1].where = "mlx5_1 port 1";
  job.found.paths = {path(0, 1, Outcome::kSilent, "10.9.0.2")};
  EXPECT_EQ(only_fault(check_ports(job)).where, "b mlx5_1 port 1");
  for (const int place : {0, 1}) set_nic(job, place, "mlx5_0:1");
  expect_ok(check_ports(job));
  EXPECT_EQ(check_ports(job)[0].seen, "CHIME_NIC excludes mlx5_1 port 1 on a, b: not judged");
}

TEST(CheckPorts, JudgesWhatAnyPeOfAHostMayTake) {
  Job job = job_on(2);
  for (const int place : {0, 1})
    host(job, place).ports = {roce(fmt::format("10.1.0.{}", place), "10.1.0.0/24")};
  job.found.paths = {path(0, 1, Outcome::kSilent, "10.1.0.1")};
  set_nic(job, 1, "mlx5_4");
  job.pes[3].nic = "mlx5_0";  // not the one that looks at the host
  EXPECT_EQ(only_fault(check_ports(job)).where, "b mlx5_0 port 1");
}

TEST(CheckPorts, NamesAHostOfWhichNoNicIsTaken) {
  Job job = job_on(2);
  for (const int place : {0, 1})
    host(job, place).ports = {roce(fmt::format("10.1.0.{}", place), "10.1.0.0/24")};
  set_nic(job, 1, "off");
  expect_fault(check_ports(job), Level::kWarning, "NICs", "",
               "b has no active port that CHIME_NIC lets a PE take");
  set_nic(job, 0, "soft");
  expect_ok(check_ports(job));
  EXPECT_EQ(check_ports(job)[0].seen, "CHIME_NIC excludes mlx5_0 port 1 on a, b: not judged");
}

TEST(CheckPorts, FindsTwoLinkLayers) {
  Job job = job_on(2);
  host(job, 0).ports = {roce("10.1.0.1", "10.1.0.0/24")};
  host(job, 1).ports = {infiniband("fe80:0000:0000:0000", 4)};
  expect_fault(check_ports(job), Level::kWrong, "link layer", "", "Ethernet on a, InfiniBand on b");
}

TEST(CheckPorts, FindsInfiniBandPortsOfTwoSubnets) {
  Job job = job_on(2);
  host(job, 0).ports = {infiniband("fe80:0000:0000:0000", 3)};
  host(job, 1).ports = {infiniband("fe80:0000:0000:0000", 4)};
  expect_ok(check_ports(job));
  host(job, 1).ports = {infiniband("fe80:0000:0000:0001", 4)};
  expect_fault(check_ports(job), Level::kWrong, "InfiniBand subnet", "",
               "fe80:0000:0000:0001 on b");
  host(job, 1).ports = {infiniband("fe80:0000:0000:0000", 3)};
  expect_fault(check_ports(job), Level::kWrong, "LID", "", "both have LID 3");
}

TEST(CheckPorts, WarnsOfRails) {
  Job job = job_on(2);
  for (int i : {0, 1})
    host(job, i).ports = {infiniband("fe80:0000:0000:0001", 3 + i),
                          infiniband("fe80:0000:0000:0002", 3 + i)};
  expect_fault(check_ports(job), Level::kWarning, "InfiniBand subnet", "", "different ones");
}

TEST(CheckPorts, FindsRoceAddressesOfTwoFamilies) {
  Job job = job_on(2);
  host(job, 0).ports = {roce("10.1.0.1", "10.1.0.0/24")};
  host(job, 1).ports = {roce("10.1.0.2", "10.1.0.0/24")};
  expect_ok(check_ports(job));
  host(job, 1).ports = {roce("fd00::2", "fd00::/64")};
  expect_fault(check_ports(job), Level::kWrong, "RoCE addresses", "", "IPv4 on a, IPv6 on b");
}

TEST(CheckPorts, TellsRoutedSubnetsFromUnreachedOnes) {
  Job job = job_on(2);
  host(job, 0).ports = {roce("10.1.0.1", "10.1.0.0/24")};
  host(job, 1).ports = {roce("10.2.0.1", "10.2.0.0/24")};
  expect_fault(check_ports(job), Level::kWarning, "RoCE addresses", "", "was not tried");
  job.found.paths = {path(0, 1, Outcome::kOpen, "10.2.0.1")};
  expect_ok(check_ports(job));
  job.found.paths = {path(0, 1, Outcome::kClosed, "10.2.0.1")};  // its host has answered
  expect_ok(check_ports(job));
  job.found.paths = {path(0, 1, Outcome::kSilent, "10.2.0.1")};
  expect_fault(check_ports(job), Level::kWarning, "RoCE addresses", "b mlx5_0 port 1",
               "10.2.0.1 is not reached by TCP from a: no answer (its subnet is 10.2.0.0/24); RoCE "
               "may go another way");
}

// Host `place` has so many ports, each in the network that `network_of` gives, with these
// addresses:
std::string address_of(int network, int place) { return fmt::format("10.{}.0.{}", network, place); }

void put_ports(Job& job, int place, const std::vector<int>& networks) {
  host(job, place).ports.clear();
  for (std::size_t i = 0; i < networks.size(); ++i) {
    PortFacts port = roce(address_of(networks[i], place), fmt::format("10.{}.0.0/24", networks[i]));
    port.where = fmt::format("mlx5_{} port 1", i);
    port.interface = fmt::format("ens{}", i);
    host(job, place).ports.push_back(port);
  }
}

// From the host's port at that place, to another host's.
struct End {
  int host;
  std::size_t port;
};
PathFacts attempt(Job& job, End from, End to, Outcome outcome) {
  const PortFacts& left = host(job, from.host).ports[from.port];
  PathFacts one = path(from.host, to.host, outcome, host(job, to.host).ports[to.port].address);
  one.through = left.interface;
  one.source = left.address;
  one.listens = false;
  return one;
}

// Each of the hosts with two rails tries the others' ports through its own at the same place; those
// of which `is_lost` is true are lost.
Job job_on_rails(int n_hosts, bool (*is_lost)(End from, End to)) {
  Job job = job_on(n_hosts);
  for (int place = 0; place < n_hosts; ++place) put_ports(job, place, {1, 2});
  for (int from = 0; from < n_hosts; ++from)
    for (int to = 0; to < n_hosts; ++to)
      for (const std::size_t rail : {std::size_t{0}, std::size_t{1}})
        if (from != to)
          job.found.paths.push_back(
              attempt(job, {from, rail}, {to, rail},
                      is_lost({from, rail}, {to, rail}) ? Outcome::kSilent : Outcome::kOpen));
  return job;
}

TEST(CheckPorts, BelievesWhatWentThroughTheNicsInterface) {
  Job job = job_on(2);
  put_ports(job, 0, {1});
  put_ports(job, 1, {2});
  job.found.paths = {path(0, 1, Outcome::kOpen, address_of(2, 1)),
                     attempt(job, {0, 0}, {1, 0}, Outcome::kSilent)};
  expect_fault(check_ports(job), Level::kWrong, "RoCE addresses", "b mlx5_0 port 1",
               "10.2.0.1 is not reached by TCP from a through ens0: no answer (its subnet is "
               "10.2.0.0/24)");
  job.found.paths[1].outcome = Outcome::kOpen;
  expect_ok(check_ports(job));
  job.found.paths[0].outcome = Outcome::kNoWay;  // the routes say nothing of NICs
  expect_ok(check_ports(job));
}

TEST(CheckPorts, NamesADeadPortBehindOneThatWorks) {
  Job job = job_on(2);
  put_ports(job, 0, {1, 2});
  put_ports(job, 1, {3});
  job.found.paths = {attempt(job, {0, 0}, {1, 0}, Outcome::kOpen),
                     attempt(job, {0, 1}, {1, 0}, Outcome::kSilent)};
  expect_fault(check_ports(job), Level::kWrong, "RoCE addresses", "a mlx5_1 port 1",
               "TCP through ens1 from 10.2.0.0 does not reach b: no answer");
  job.found.paths.push_back(attempt(job, {1, 0}, {0, 1}, Outcome::kNoWay));
  expect_fault(check_ports(job), Level::kWrong, "RoCE addresses", "a mlx5_1 port 1",
               "10.2.0.0 is not reached by TCP from b through ens0: no answer (its subnet is "
               "10.2.0.0/24); TCP through ens1 from 10.2.0.0 does not reach b: no answer");
  EXPECT_NE(only_fault(check_ports(job)).mend.find("CHIME_NIC=<another device>"),
            std::string::npos);
}

TEST(CheckPorts, NamesADeadPortOnceForAllHostsThatMissIt) {
  const Job job = job_on_rails(4, [](End from, End to) {
    return (from.host == 2 && from.port == 1) || (to.host == 2 && to.port == 1);
  });
  expect_fault(check_ports(job), Level::kWrong, "RoCE addresses", "c mlx5_1 port 1",
               "10.2.0.2 is not reached by TCP from a, b, d through ens1: no answer (its subnet is "
               "10.2.0.0/24); TCP through ens1 from 10.2.0.2 does not reach a, b, d");
}

TEST(CheckPorts, SaysOfEachHostHowItMissesADeadPort) {
  Job job = job_on_rails(4, [](End from, End to) {
    return (from.host == 2 && from.port == 1) || (to.host == 2 && to.port == 1);
  });
  host(job, 3).ports[1].interface = "eth7";
  for (PathFacts& one : job.found.paths) {
    if (one.from == 6 && one.through == "ens1") one.through = "eth7";
    if (one.outcome == Outcome::kSilent && one.from == 2) one.why = "No route to host";
    if (one.outcome == Outcome::kSilent && one.from == 4 && one.to == 6) one.why = "down";
  }
  const std::string seen = only_fault(check_ports(job)).seen;
  EXPECT_EQ(seen,
            "10.2.0.2 is not reached by TCP from a through ens1: no answer, from b through ens1: "
            "No route to host, from d through eth7: no answer (its subnet is 10.2.0.0/24); TCP "
            "through ens1 from 10.2.0.2 does not reach a, b: no answer, d: down");
}

TEST(CheckPorts, NamesEachDeadPort) {
  const Job job = job_on_rails(4, [](End from, End to) {
    const auto dead = [](End end) {
      return (end.host == 0 && end.port == 1) || (end.host == 3 && end.port == 0);
    };
    return dead(from) || dead(to);
  });
  std::vector<std::string> where;
  for (const Finding& finding : check_ports(job)) where.push_back(finding.where);
  EXPECT_EQ(where, (std::vector<std::string>{"a mlx5_1 port 1", "d mlx5_0 port 1"}));
}

TEST(CheckPorts, NamesBothPortsWhereEitherMayBeDead) {
  const Job job = job_on_rails(2, [](End from, End) { return from.port == 1; });
  expect_fault(check_ports(job), Level::kWrong, "RoCE addresses", "b mlx5_1 port 1",
               "; or it is a mlx5_1 port 1 that is dead");
}

TEST(CheckPorts, NamesAWayBetweenPortsThatReachOthers) {
  const Job job = job_on_rails(
      3, [](End from, End to) { return from.host == 1 && to.host == 0 && from.port == 1; });
  const Finding fault = only_fault(check_ports(job));
  EXPECT_EQ(fault.where, "a mlx5_1 port 1");
  EXPECT_EQ(fault.seen,
            "10.2.0.0 is not reached by TCP from b through ens1: no answer (its subnet is "
            "10.2.0.0/24)");
  EXPECT_EQ(fault.mend.find("CHIME_NIC"), std::string::npos);
}

// Two hosts with NICs in four subnets. Each address is tried through both NICs of the other host,
// as Targets.OfOtherSubnetsAreTriedThroughTwoPorts has it.
Job job_on_routed_rails(bool (*is_lost)(End from, End to)) {
  Job job = job_on(2);
  put_ports(job, 0, {1, 2});
  put_ports(job, 1, {3, 4});
  for (const int from : {0, 1})
    for (const std::size_t left : {0u, 1u})
      for (const std::size_t tried : {0u, 1u}) {
        const End start{from, left}, end{1 - from, tried};
        job.found.paths.push_back(
            attempt(job, start, end, is_lost(start, end) ? Outcome::kSilent : Outcome::kOpen));
      }
  return job;
}

TEST(CheckPorts, WarnsOfRailsThatRoutersDoNotConnect) {
  const Job job = job_on_routed_rails([](End from, End to) { return from.port != to.port; });
  expect_fault(check_ports(job), Level::kWarning, "RoCE addresses", "",
               "TCP from a mlx5_0 port 1 does not reach b mlx5_1 port 1: no answer, and so 4 "
               "attempts in all; another port of a does: PEs whose NICs have unequal numbers");
  expect_ok(check_ports(job_on_routed_rails([](End, End) { return false; })));
}

TEST(CheckPorts, NamesALostWayAlongARail) {
  const Job job = job_on_routed_rails(
      [](End from, End to) { return from.host == 0 && from.port == 1 && to.port == 1; });
  expect_fault(check_ports(job), Level::kWrong, "RoCE addresses", "b mlx5_1 port 1",
               "10.4.0.1 is not reached by TCP from a through ens1: no answer");
}

TEST(CheckPorts, TellsPortsOfEqualAddressApart) {
  Job job = job_on(3);
  put_ports(job, 0, {1});
  put_ports(job, 1, {2});
  put_ports(job, 2, {2});
  host(job, 2).ports[0].address = host(job, 1).ports[0].address;
  job.found.paths = {attempt(job, {0, 0}, {1, 0}, Outcome::kOpen),
                     attempt(job, {0, 0}, {2, 0}, Outcome::kSilent)};
  EXPECT_EQ(only_fault(check_ports(job)).where, "c mlx5_0 port 1");
}

TEST(CheckPorts, JudgesNoWayThatWasNotTried) {
  Job job = job_on_rails(2, [](End, End) { return false; });
  put_ports(job, 1, {3});
  for (PathFacts& one : job.found.paths) one.outcome = Outcome::kNotTried;
  expect_fault(check_ports(job), Level::kWarning, "RoCE addresses", "",
               "whether a router connects them was not tried");
}

TEST(CheckPorts, NamesTheHostsThatTriedByTheirRoutes) {
  Job job = job_on(3);
  for (int place : {0, 1, 2})
    host(job, place).ports = {
        roce(fmt::format("10.{}.0.1", place), fmt::format("10.{}.0.0/24", place))};
  for (int from : {0, 1, 2})
    for (int to : {0, 1, 2}) {
      if (from == to) continue;
      PathFacts by_routes = path(from, to, Outcome::kOpen, fmt::format("10.{}.0.1", to));
      PathFacts through = by_routes;
      through.through = "ens1";
      job.found.paths.insert(job.found.paths.end(), {by_routes, through});
    }
  EXPECT_NE(check_ports(job)[0].seen.find("through the NICs' interfaces"), std::string::npos);
  for (PathFacts& one : job.found.paths)
    if (one.from == 2 && one.to == 0) one.through.clear();
  expect_ok(check_ports(job));
  EXPECT_NE(check_ports(job)[0].seen.find("from b by whatever interface"), std::string::npos)
      << check_ports(job)[0].seen;
  host(job, 1).ports.clear();  // no NIC of it sends anything
  EXPECT_NE(check_ports(job)[1].seen.find("through the NICs' interfaces"), std::string::npos);
}

TEST(CheckPorts, KnowsThatTcpGoesByTheNicWithinItsSubnet) {
  Job job = job_on(2);
  host(job, 0).ports = {roce("10.1.0.1", "10.1.0.0/24")};
  host(job, 1).ports = {roce("10.1.0.2", "10.1.0.0/24")};
  job.found.paths = {path(0, 1, Outcome::kSilent, "10.1.0.2")};
  expect_fault(check_ports(job), Level::kWrong, "RoCE addresses", "b mlx5_0 port 1",
               "10.1.0.2 is not reached by TCP from a: no answer (its subnet is 10.1.0.0/24)");
}

// ---- Which of its ports a host tries others through

// Eight ports, each in the network that `network_of` gives: 10.<network>.<host>.<1 + place>.
HostFacts host_of_eight_ports(int host, int (*network_of)(int place)) {
  HostFacts facts;
  for (int place = 0; place < 8; ++place) {
    const int network = network_of(place);
    const std::string address = fmt::format("10.{}.{}.{}", network, host, 1 + place);
    PortFacts port = roce(address, fmt::format("10.{}.0.0/16", network));
    port.interface = fmt::format("ens{}", place);
    facts.ports.push_back(port);
    facts.addresses.push_back({port.interface, address, 4711});
  }
  for (const PortFacts& port : facts.ports)
    facts.addresses.push_back({port.where, port.address, 4711, false, true, port.network});
  return facts;
}

// What the first of so many hosts tries.
std::vector<Target> targets_among(int n_hosts, int (*network_of)(int place)) {
  std::vector<HostAddresses> hosts;
  for (int host = 0; host < n_hosts; ++host)
    hosts.push_back({host, host_of_eight_ports(host, network_of).addresses});
  return targets_of(0, host_of_eight_ports(0, network_of).ports, hosts);
}

TEST(Targets, AreInProportionToPorts) {
  EXPECT_EQ(targets_among(16, [](int) { return 1; }).size(), 15u * (8 + 8));
  EXPECT_EQ(targets_among(16, [](int place) { return place; }).size(), 15u * (8 + 8));
  EXPECT_EQ(most_attempts(8, 8), 8u + 2 * 8);
}

TEST(Targets, AreTriedThroughThePortThatStandsAtTheSamePlace) {
  for (int (*network_of)(int) : {+[](int) { return 1; }, +[](int place) { return place; }})
    for (const Target& target : targets_among(2, network_of)) {
      if (!target.address.is_of_nic) {
        EXPECT_EQ(target.through + target.source, "");
        continue;
      }
      const char last = target.address.host.back();  // 1 + place
      EXPECT_EQ(target.through, fmt::format("ens{}", last - '1'));
      EXPECT_EQ(target.source.substr(target.source.size() - 4), fmt::format(".0.{}", last));
    }
}

TEST(Targets, OfOtherSubnetsAreTriedThroughTwoPorts) {
  const HostFacts mine = host_of_eight_ports(0, [](int) { return 1; });
  const ListeningAddress port{"mlx5_0 port 1", "10.2.0.1", 4711, false, true, "10.2.0.0/16"};
  const auto targets = targets_of(0, mine.ports, {{0, {}}, {1, {port, port, port}}});
  std::vector<std::string> through;
  for (const Target& target : targets) through.push_back(target.through);
  EXPECT_EQ(through, (std::vector<std::string>{"ens0", "ens1", "ens1", "ens2", "ens2", "ens3"}));
}

TEST(Targets, AreLeftToRoutesWithoutAPortThatMayTryThem) {
  std::vector<PortFacts> ports = host_of_eight_ports(0, [](int place) { return place; }).ports;
  const std::vector<HostAddresses> hosts = {
      {0, {}},
      {1,
       {{"mlx5_0 port 1", "10.0.1.1", 4711, false, true, "10.0.0.0/16"},
        {"mlx5_1 port 1", "fd00::1", 4711, false, true, "fd00::/64"}}}};
  ports[0].interface.clear();  // which cannot be chosen: another one is in no such subnet
  const auto targets = targets_of(0, ports, hosts);
  ASSERT_EQ(targets.size(), 2u);
  for (const Target& target : targets) EXPECT_EQ(target.through + target.source, "");
}

// ---- What else the report is made of

TEST(ReportsOfHosts, GiveEqualLinesOnce) {
  Job job = job_on(3);
  const Finding small{Level::kWrong, "/dev/shm", "", "4 of 64 MiB free",
                      "docker run --shm-size=8g"};
  for (int place : {0, 1, 2}) host(job, place).report = {{"Limits", {small}}};
  auto report = reports_of_hosts(job);
  ASSERT_EQ(report.size(), 2u);
  expect_ok(report[0].findings);
  expect_fault(report[1].findings, Level::kWrong, "/dev/shm", "all 3 hosts", "4 of 64 MiB");
  host(job, 1).report.clear();
  report = reports_of_hosts(job);
  expect_fault(report[1].findings, Level::kWrong, "/dev/shm", "a, c", "4 of 64 MiB");
}

TEST(Facts, SurviveTheirJson) {
  Job job = job_on(1);
  job.pes[0].nic = "mlx5_0";
  host(job, 0).ports = {{"mlx5_0 port 1", true, "fe80::1", "10.1.0.1", "10.1.0.0/24", 3, "ens1"}};
  host(job, 0).addresses = {{"eth0", "10.0.0.1", 4711, false, true, "10.0.0.0/24"}};
  host(job, 0).why_not_listening = "no interface";
  host(job, 0).report = {{"Limits", {{Level::kWarning, "a", "b", "c", "d"}}}};
  for (const PeFacts& pe : job.pes) EXPECT_EQ(json_of(pe_facts_of(json_of(pe))), json_of(pe));
  PairFacts found{{path(0, 1, Outcome::kOther)}, {{2, 0, 1.5, 0.25}}};
  found.paths[0].listens = false;
  found.paths[0].through = "ens1";
  found.paths[0].source = "10.1.0.1";
  EXPECT_EQ(json_of(pair_facts_of(json_of(found))), json_of(found));
}

TEST(Facts, OfAnotherVersionMayLackAll) {
  const PeFacts facts = pe_facts_of(nlohmann::json::object({{"unheard of", 1}}));
  EXPECT_EQ(facts.host, "");
  EXPECT_FALSE(facts.of_host);
}

TEST(Plan, TriesEveryPairOfFewHosts) {
  EXPECT_EQ(tried_by(0, 1), std::vector<std::size_t>());
  EXPECT_EQ(tried_by(1, 4), (std::vector<std::size_t>{0, 2, 3}));
}

TEST(Plan, TriesLogarithmicallyManyOfManyHosts) {
  EXPECT_EQ(tried_by(10, 100), (std::vector<std::size_t>{0, 11, 12, 14, 18, 26, 42, 74}));
  std::vector<int> n_tries(1000);
  for (std::size_t place = 0; place < 1000; ++place)
    for (const std::size_t other : tried_by(place, 1000)) ++n_tries[other];
  EXPECT_EQ(n_tries[0], 999);
  for (std::size_t place = 1; place < 1000; ++place) EXPECT_EQ(n_tries[place], 10);
}

TEST(Names, AreRangesOfPes) {
  EXPECT_EQ(words_of_pes({3}), "PE 3");
  EXPECT_EQ(words_of_pes({0, 1, 2, 3, 7}), "PEs 0-3, 7");
}

}  // namespace
}  // namespace chime::doctor
