// The values that set-up writes into queue pairs and memory keys, read back from the NIC: the
// emulated NIC ignores most of these fields, a real one uses all.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "host/gpu/factory.hpp"
#include "host/peers/connector.hpp"
#include "host/peers/control.hpp"
#include "host/transport/mlx5/transport.hpp"

namespace chime::host {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr std::size_t kHeapBytes = 3 << 20;  // no other region has this size

// "qpn 0x41 to 0x42, mtu 5" by its words.
using Fields = std::map<std::string, std::uint64_t>;

Fields fields_in(const std::string& line) {
  Fields fields;
  const std::regex field("([a-z_]+) (0x[0-9a-f]+|[0-9]+)(?=[, ]|$)");
  for (std::sregex_iterator at(line.begin(), line.end(), field), end; at != end; ++at)
    fields[(*at)[1]] = std::stoull((*at)[2], nullptr, 0);
  return fields;
}

bool is_ethernet() {
  const char* const link = std::getenv("SOFTNIC_LINK_LAYER");
  return link != nullptr && std::string(link) == "ethernet";
}

// A PE alone, whose queue pairs lead to itself.
struct NicFields : testing::TestWithParam<NicBackend> {
  // The NIC's report during set-up, by lines.
  void set_up(NicOptions options) {
    options.device = "soft";
    options.softnic_library = CHIME_TEST_SOFTNIC;
    options.backend = GetParam();
    setenv("SOFTNIC_LOG", "2", 1);
    testing::internal::CaptureStderr();
    {
      const auto job = bootstrap::make_bootstrap();
      const auto gpu = open_simt_gpu();
      const auto heap = gpu->allocate_heap(kHeapBytes);
      Mlx5Transport nic({0, 1, job->job_id()}, *gpu, *heap, options);
      PeerTable peers({0, 1, AmoChoice::kAuto});
      peers.add(nic);
      Connector(*job, gpu->allocate_host_visible(sizeof(ControlBlock)), peers,
                std::chrono::steady_clock::now() + std::chrono::seconds(60))
          .connect(nic);
    }
    said_ = testing::internal::GetCapturedStderr();
  }
  std::vector<Fields> lines_of(const std::string& kind) const {
    std::vector<Fields> found;
    std::istringstream lines(said_);
    for (std::string line; std::getline(lines, line);)
      if (line.find("softnic: " + kind) != std::string::npos) found.push_back(fields_in(line));
    return found;
  }
  // The access of the heap's keys, in the order of their creation.
  std::vector<std::uint64_t> accesses_of_heap() const {
    std::vector<std::uint64_t> accesses;
    const std::regex region("region 0x[0-9a-f]+[^:]*: ([0-9]+) bytes, access (0x[0-9a-f]+)");
    for (std::sregex_iterator at(said_.begin(), said_.end(), region), end; at != end; ++at)
      if (std::stoull((*at)[1]) >= kHeapBytes && std::stoull((*at)[1]) < kHeapBytes + (1 << 20))
        accesses.push_back(std::stoull((*at)[2], nullptr, 0));
    return accesses;
  }
  bool is_devx() const { return GetParam() == NicBackend::kDevx; }

  std::string said_;
};

std::vector<std::uint64_t> all_of(const std::vector<Fields>& lines, const std::string& field) {
  std::vector<std::uint64_t> values;
  for (const Fields& line : lines) values.push_back(line.contains(field) ? line.at(field) : ~0ull);
  return values;
}

#define EXPECT_ALL(lines, field, value) \
  EXPECT_THAT(all_of(lines, field), AllOf(Not(IsEmpty()), Each(value))) << (field) << "\n" << said_

TEST_P(NicFields, AreTheUsersChoices) {
  NicOptions options;
  options.timeout = 17;
  options.retry = 5;
  options.service_level = 3;
  options.traffic_class = 96;
  set_up(options);
  const auto ready = lines_of("ready:");
  EXPECT_ALL(ready, "timeout", 17u);
  EXPECT_ALL(ready, "retry", 5u);
  EXPECT_ALL(ready, "sl", 3u);
  EXPECT_ALL(ready, "class", is_ethernet() ? 96u : 0u);  // only for global routes
  if (is_devx() && is_ethernet()) {
    EXPECT_ALL(lines_of("route:"), "dscp", 96u >> 2);
  }
}

TEST_P(NicFields, AreTheDefaults) {
  set_up({});
  const auto ready = lines_of("ready:");
  EXPECT_ALL(ready, "timeout", 18u);
  EXPECT_ALL(ready, "retry", 7u);
  EXPECT_ALL(ready, "sl", 0u);
  EXPECT_ALL(ready, "class", 0u);
  // For ever, and 0.64 ms: no PE posts receives, so neither is ever used.
  EXPECT_ALL(ready, "rnr_retry", 7u);
  EXPECT_ALL(ready, "min_rnr", 12u);
  EXPECT_ALL(ready, "access", 0xeu);  // remote writes, reads and atomics; no binds of windows
  EXPECT_ALL(ready, "pkey", 0u);
  EXPECT_ALL(ready, "port", 1u);
  EXPECT_ALL(ready, "path_port", 1u);
  EXPECT_ALL(ready, "mtu", 5u);
  EXPECT_ALL(ready, "reads", 16u);
  EXPECT_ALL(ready, "dest_reads", 16u);
}

TEST_P(NicFields, LeadToTheOtherEnd) {
  set_up({});
  const auto ready = lines_of("ready:");
  ASSERT_THAT(ready, Not(IsEmpty())) << said_;
  std::map<std::uint64_t, Fields> by_number;
  for (const Fields& one : ready) by_number[one.at("qpn")] = one;
  for (const Fields& one : ready) {
    ASSERT_TRUE(by_number.contains(one.at("to"))) << said_;
    const Fields& other = by_number.at(one.at("to"));
    EXPECT_EQ(other.at("to"), one.at("qpn"));
    EXPECT_EQ(other.at("rq_psn"), one.at("sq_psn")) << said_;
    EXPECT_EQ(other.at("sq_psn"), one.at("rq_psn")) << said_;
  }
  EXPECT_ALL(ready, "global", is_ethernet() ? 1u : 0u);
  EXPECT_ALL(ready, "hops", is_ethernet() ? 255u : 0u);
  for (const Fields& one : ready) {
    EXPECT_EQ(one.at("lid") == 0, is_ethernet()) << said_;
    EXPECT_EQ(one.at("gid_index") == 0, !is_ethernet()) << said_;
  }
}

// Fields that the kernel sets for verbs programs.
TEST_P(NicFields, OfTheFirmwareAreSet) {
  if (!is_devx()) GTEST_SKIP() << "by verbs the kernel sets them";
  set_up({});
  EXPECT_ALL(lines_of("init:"), "migration", 3u);    // migrated: there is one path
  EXPECT_ALL(lines_of("init:"), "atomic_mode", 3u);  // up to 8 bytes
  EXPECT_ALL(lines_of("route:"), "longest", 30u);    // 2^30 bytes
  if (is_ethernet()) {
    EXPECT_ALL(lines_of("route:"), "udp_port", AllOf(testing::Ge(0xc000u), testing::Le(0xffffu)));
  }
}

// Data may be placed out of order, words may not: so the second of two keys differs.
TEST_P(NicFields, OfKeysAreRelaxedForDataAlone) {
  constexpr std::uint64_t kAllRemote = 0xf, kRelaxed = 1 << 20;
  NicOptions options;
  options.ordering = NicOrdering::kRelaxed;
  set_up(options);
  EXPECT_THAT(accesses_of_heap(), ElementsAre(kAllRemote | kRelaxed, kAllRemote)) << said_;
  options.ordering = NicOrdering::kStrict;
  set_up(options);
  EXPECT_THAT(accesses_of_heap(), ElementsAre(kAllRemote)) << said_;
}

INSTANTIATE_TEST_SUITE_P(By, NicFields, testing::Values(NicBackend::kVerbs, NicBackend::kDevx),
                         [](const auto& backend) {
                           return backend.param == NicBackend::kDevx ? std::string("Devx")
                                                                     : std::string("Verbs");
                         });

}  // namespace
}  // namespace chime::host
