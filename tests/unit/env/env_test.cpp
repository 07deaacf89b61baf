// The table of environment variables: parsing, defaults, refusals, and completeness.
#include "host/settings/env.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "host/errors/error.hpp"
#include "host/setup/nvshmem_variables.hpp"

namespace chime::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Settings settings_with(const std::map<std::string, std::string, std::less<>>& environment) {
  return read_settings([&](std::string_view name) -> std::optional<std::string> {
    auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  });
}

std::string refusal_of(const std::string& name, const std::string& value) {
  try {
    settings_with({{name, value}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CHIMEX_ERR_INVALID);
    return error.what();
  }
  return "accepted";
}

TEST(Environment, DefaultsComeFromTheTable) {
  Settings settings = settings_with({});
  EXPECT_EQ(settings.symmetric_bytes, std::size_t{1} << 30);
  EXPECT_EQ(settings.wait_timeout_ns, 120'000'000'000u);
  EXPECT_EQ(settings.on_error, OnError::kExit);
  EXPECT_TRUE(!settings.p2p.is_off());
  EXPECT_FALSE(settings.checked);
}

TEST(Environment, SizesHaveBinarySuffixes) {
  auto bytes = [](const char* text) {
    return settings_with({{"CHIME_SYMMETRIC_SIZE", text}}).symmetric_bytes;
  };
  EXPECT_EQ(bytes("2097152"), std::size_t{2} << 20);
  EXPECT_EQ(bytes("64M"), std::size_t{64} << 20);
  EXPECT_EQ(bytes("64m"), std::size_t{64} << 20);
  EXPECT_EQ(bytes("1.5G"), std::size_t{3} << 29);
  EXPECT_EQ(bytes("1T"), std::size_t{1} << 40);
  EXPECT_EQ(bytes("8MiB"), std::size_t{8} << 20);
  EXPECT_EQ(bytes("8MB"), std::size_t{8} << 20);
}

TEST(Environment, AHeapIsNoSmallerThanTheLeast) {
  const auto of = [](const char* text) {
    const Settings settings = settings_with({{"CHIME_SYMMETRIC_SIZE", text}});
    return std::pair(settings.symmetric_bytes, settings.symmetric_is_raised);
  };
  constexpr std::size_t kMega = std::size_t{1} << 20;
  for (const char* text : {"0", "512", "1023K", "1048575"})
    EXPECT_EQ(of(text), std::pair(kMega, true)) << text;
  for (const char* text : {"1M", "1024K"}) EXPECT_EQ(of(text), std::pair(kMega, false)) << text;
  EXPECT_EQ(of("1048577"), std::pair(kMega + 1, false));
}

TEST(Environment, ABadValueIsRefusedWithTheVariableAndWhatIsAllowed) {
  for (const char* text : {"", "x", "-1M", "1Q", "1M2", "nan", "inf", "9999999T", "1G "})
    EXPECT_THAT(refusal_of("CHIME_SYMMETRIC_SIZE", text),
                AllOf(HasSubstr("CHIME_SYMMETRIC_SIZE"), HasSubstr("bytes, with K M G T")))
        << "'" << text << "'";
  EXPECT_THAT(refusal_of("CHIME_ON_ERROR", "abort"), HasSubstr("exit|return|trap"));
  EXPECT_THAT(refusal_of("CHIME_TIMEOUT", "5s"), HasSubstr("seconds"));
  EXPECT_THAT(refusal_of("CHIME_INIT_TIMEOUT", "0"), HasSubstr("hang"));
  for (const char* text : {"yes", "3", "-1", "", "01"})
    EXPECT_THAT(refusal_of("CHIME_CHECK", text),
                AllOf(HasSubstr("CHIME_CHECK"), HasSubstr("0|1|2")))
        << "'" << text << "'";
  EXPECT_THAT(refusal_of("CHIME_P2P", "on"), HasSubstr("auto|off|none|number of PEs"));
  EXPECT_THAT(refusal_of("CHIME_DEVICE", "gpu"), HasSubstr("auto|cpu|cuda"));
  EXPECT_THAT(refusal_of("CHIME_LOG", "verbose"), HasSubstr("off|error|warn|info|debug"));
}

TEST(Environment, EachLevelOfChecksHasTheOnesBelow) {
  const auto of = [](const char* text) {
    const Settings settings = settings_with({{"CHIME_CHECK", text}});
    return std::pair(settings.checked, settings.checks_bounds);
  };
  EXPECT_EQ(of("0"), std::pair(false, false));
  EXPECT_EQ(of("1"), std::pair(true, false));
  EXPECT_EQ(of("2"), std::pair(true, true));
}

TEST(Environment, MappedPeersComeInGroups) {
  const P2pGroups all = settings_with({}).p2p, none = settings_with({{"CHIME_P2P", "off"}}).p2p;
  EXPECT_TRUE(all.maps(0, 1000) && !all.is_off());
  EXPECT_TRUE(none.is_off() && !none.maps(0, 1));
  const P2pGroups pairs = settings_with({{"CHIME_P2P", "2"}}).p2p;
  EXPECT_TRUE(pairs.maps(0, 1) && pairs.maps(3, 2) && !pairs.maps(1, 2));
  EXPECT_THAT(refusal_of("CHIME_P2P", "0"), HasSubstr("out of range"));
}

TEST(Environment, TheNicsVariablesAreRead) {
  const NicOptions nic = settings_with({{"CHIME_NIC", "mlx5_3:2"},
                                        {"CHIME_NIC_BACKEND", "devx"},
                                        {"CHIME_NIC_RELAXED_ORDERING", "off"},
                                        {"CHIME_NIC_ORDER", "relaxed"},
                                        {"CHIME_NIC_DOORBELL", "cpu"},
                                        {"CHIME_NIC_SLOTS", "8"},
                                        {"CHIME_QP_DEPTH", "32768"},
                                        {"CHIME_NIC_GID_INDEX", "3"}})
                             .nic;
  EXPECT_EQ(nic.device, "mlx5_3:2");
  EXPECT_EQ(nic.backend, NicBackend::kDevx);
  EXPECT_EQ(nic.ordering, NicOrdering::kStrict);
  EXPECT_EQ(nic.write_order, NicWriteOrder::kRelaxed);
  EXPECT_EQ(nic.doorbell, NicDoorbell::kCpu);
  EXPECT_EQ(nic.slots, 8u);
  EXPECT_EQ(nic.queue_depth, 32768u);
  EXPECT_EQ(nic.gid_index, 3);
  EXPECT_EQ(settings_with({}).nic.gid_index, -1);
  EXPECT_TRUE(settings_with({}).nic.is_auto());
  EXPECT_FALSE(settings_with({}).nic.is_off());
}

// Users may write either word for the other.
TEST(Environment, OffAndNoneAreOneWordForEachPathToPeers) {
  for (const char* const word : {"off", "none"}) {
    EXPECT_TRUE(settings_with({{"CHIME_NIC", word}}).nic.is_off()) << word;
    EXPECT_TRUE(settings_with({{"CHIME_P2P", word}}).p2p.is_off()) << word;
    EXPECT_TRUE(settings_with({{"CHIME_FABRIC", word}}).fabric.is_off()) << word;
  }
  EXPECT_THAT(refusal_of("CHIME_P2P", "of"), HasSubstr("auto|off|none|number of PEs"));
}

TEST(Environment, TheNicsNumbersHaveBounds) {
  EXPECT_THAT(refusal_of("CHIME_NIC", ""), HasSubstr("no device name"));
  EXPECT_THAT(refusal_of("CHIME_NIC_BACKEND", "ibv"), HasSubstr("auto|verbs|devx"));
  EXPECT_THAT(refusal_of("CHIME_NIC_ORDER", "on"), HasSubstr("auto|strict|relaxed"));
  EXPECT_THAT(refusal_of("CHIME_QP_DEPTH", "1000"), HasSubstr("not a power of two"));
  EXPECT_THAT(refusal_of("CHIME_QP_DEPTH", "64"), HasSubstr("out of range"));
  EXPECT_THAT(refusal_of("CHIME_QP_DEPTH", "65536"), HasSubstr("128 to 32768"));
  EXPECT_THAT(refusal_of("CHIME_NIC_SLOTS", "3"), HasSubstr("not a power of two"));
  EXPECT_THAT(refusal_of("CHIME_NIC_SLOTS", "0"), HasSubstr("out of range"));
  EXPECT_THAT(refusal_of("CHIME_NIC_GID_INDEX", "first"), HasSubstr("not a whole number"));
  EXPECT_THAT(refusal_of("CHIME_NIC_SL", "16"), HasSubstr("0 to 15"));
  EXPECT_THAT(refusal_of("CHIME_NIC_TCLASS", "256"), HasSubstr("0 to 255"));
  EXPECT_THAT(refusal_of("CHIME_NIC_PKEY_INDEX", "-1"), HasSubstr("0 to 65535"));
  EXPECT_THAT(refusal_of("CHIME_NIC_TIMEOUT", "0"), HasSubstr("1 to 31"));
  EXPECT_THAT(refusal_of("CHIME_NIC_RETRY", "8"), HasSubstr("0 to 7"));
}

TEST(Environment, TheFabricsVariablesAreRead) {
  EXPECT_TRUE(settings_with({}).fabric.is_auto());
  EXPECT_TRUE(settings_with({{"CHIME_FABRIC", "off"}}).fabric.is_off());
  const FabricOptions fabric = settings_with({{"CHIME_FABRIC", "tcp;ofi_rxm"},
                                              {"CHIME_IFACE", "eth1"},
                                              {"CHIME_FABRIC_TIMEOUT", "1.5"}})
                                   .fabric;
  EXPECT_EQ(fabric.provider, "tcp;ofi_rxm");
  EXPECT_EQ(fabric.interface, "eth1");
  EXPECT_EQ(fabric.timeout_ns, 1'500'000'000u);
  EXPECT_EQ(settings_with({}).fabric.timeout_ns, FabricOptions{}.timeout_ns);
  EXPECT_THAT(refusal_of("CHIME_FABRIC", ""), HasSubstr("no provider's name"));
  EXPECT_THAT(refusal_of("CHIME_FABRIC_TIMEOUT", "soon"), HasSubstr("not a number of seconds"));
}

TEST(Environment, ThereIsOneProxyThreadAndMoreAreRefusedWithTheReason) {
  EXPECT_NO_THROW(settings_with({{"CHIME_PROXY_THREADS", "1"}}));
  for (const char* text : {"0", "2", "x", ""})
    EXPECT_THAT(refusal_of("CHIME_PROXY_THREADS", text), HasSubstr("one endpoint")) << text;
}

TEST(Environment, VariablesOfTheCpuDeviceAreCheckedAtInitToo) {
  EXPECT_THAT(refusal_of("CHIME_SIMT_SEED", "-1"), HasSubstr("CHIME_SIMT_SEED: '-1'"));
  EXPECT_THAT(refusal_of("CHIME_SIMT_SEED", ""), HasSubstr("integer"));
  EXPECT_THAT(refusal_of("CHIME_SIMT_WEAK", "yes"), HasSubstr("0|1"));
  EXPECT_THAT(refusal_of("CHIME_SIMT_STACK_KB", "8"), HasSubstr("16 to 1048576"));
  EXPECT_THAT(refusal_of("CHIME_SIMT_RESIDENT", "4097"), HasSubstr("1 to 4096"));
  EXPECT_EQ(refusal_of("CHIME_SIMT_SEED", "0x1f"), "accepted");
  for (const Variable& variable : variables()) {
    if (variable.name.starts_with("CHIME_SIMT_")) {
      EXPECT_FALSE(variable.fallback.empty()) << variable.name;
    }
  }
}

TEST(Environment, TimeoutsAreSecondsWithFractions) {
  EXPECT_EQ(settings_with({{"CHIME_TIMEOUT", "0.25"}}).wait_timeout_ns, 250'000'000u);
  EXPECT_EQ(settings_with({{"CHIME_TIMEOUT", "0"}}).wait_timeout_ns, 0u);
}

TEST(Environment, AnUnknownVariableIsAnsweredWithTheNearestName) {
  std::vector<std::string> names{"PATH", "CHIME_TIMEOUT", "CHIME_TIMEOUTS", "CHIME_SYMETRIC_SIZE"};
  EXPECT_THAT(unknown_variable_warnings(names),
              ElementsAre(HasSubstr("did you mean CHIME_TIMEOUT?"),
                          HasSubstr("did you mean CHIME_SYMMETRIC_SIZE?")));
  EXPECT_THAT(unknown_variable_warnings(std::vector<std::string>{"HOME", "XCHIME_LOG"}), IsEmpty());
}

using Names = std::vector<std::string>;

TEST(Environment, AVariableOfNvshmemOrOpenShmemIsAnsweredWithItsCounterpart) {
  const std::pair<const char*, const char*> rows[] = {
      {"NVSHMEM_SYMMETRIC_SIZE", "CHIME_SYMMETRIC_SIZE"},
      {"SHMEM_SYMMETRIC_SIZE", "CHIME_SYMMETRIC_SIZE"},
      {"NVSHMEM_DEBUG", "CHIME_LOG"},
      {"SHMEM_DEBUG", "CHIME_LOG"},
      {"NVSHMEM_BOOTSTRAP", "CHIME_BOOTSTRAP"},
      {"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "CHIME_BOOTSTRAP_IF"},
      {"NVSHMEM_DISABLE_P2P", "CHIME_P2P"},
      {"NVSHMEM_HCA_LIST", "CHIME_NIC"},
      {"NVSHMEM_IB_GID_INDEX", "CHIME_NIC_GID_INDEX"},
      {"NVSHMEM_IB_ENABLE_RELAXED_ORDERING", "CHIME_NIC_RELAXED_ORDERING"},
      {"NVSHMEM_IBGDA_NUM_RC_PER_PE", "CHIME_NIC_SLOTS"},
      {"NVSHMEM_QP_DEPTH", "CHIME_QP_DEPTH"}};
  for (const auto& [others, ours] : rows) {
    const std::string start =
        others + std::string(" is set and not read; Chime's is ") + ours + " (";
    EXPECT_THAT(counterpart_hints(Names{"HOME", others}),
                ElementsAre(::testing::StartsWith(start)));
    EXPECT_THAT(counterpart_hints(Names{others, ours}), IsEmpty()) << "both are set";
  }
  EXPECT_THAT(counterpart_hints(Names{"NVSHMEM_INFO", "SHMEM_VERSION"}),
              ElementsAre("NVSHMEM_INFO is set and not read; chime-info --variables says it",
                          "SHMEM_VERSION is set and not read; chime-info says it"));
}

TEST(Environment, WhatHasNoCounterpartIsLeftAlone) {
  EXPECT_THAT(counterpart_hints(
                  Names{"NVSHMEM_MAX_P2P_GPUS", "NVSHMEM_IB", "SHMEM_", "NVSHMEM_DEBUG_FILE"}),
              IsEmpty());
}

using Pairs = std::map<std::string, std::string, std::less<>>;

Lookup lookup_in(const Pairs& environment) {
  return [environment](std::string_view name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
}

// The value of Chime's variable in a program with NVSHMEM's names; "unset" if none.
std::string read_by_nvshmem(const Pairs& environment, const char* variable) {
  return by_nvshmems_variables(variable, lookup_in(environment)).value_or("unset");
}

std::vector<std::string> warnings_by_nvshmem(const Pairs& environment) {
  Names names;
  for (const auto& [name, value] : environment) names.push_back(name);
  return nvshmem_variable_warnings(names, lookup_in(environment));
}

TEST(NvshmemVariables, HaveTheirMeaningInAProgramByNvshmemsNames) {
  const std::tuple<const char*, const char*, const char*, const char*> rows[] = {
      {"NVSHMEM_SYMMETRIC_SIZE", "512M", "CHIME_SYMMETRIC_SIZE", "512M"},
      {"NVSHMEM_SYMMETRIC_SIZE", "4294967296", "CHIME_SYMMETRIC_SIZE", "4294967296"},
      {"NVSHMEM_DISABLE_P2P", "1", "CHIME_P2P", "off"},
      {"NVSHMEM_DISABLE_P2P", "TRUE", "CHIME_P2P", "off"},
      {"NVSHMEM_DISABLE_P2P", "false", "CHIME_P2P", "auto"},
      {"NVSHMEM_DEBUG", "INFO", "CHIME_LOG", "info"},
      {"NVSHMEM_DEBUG", "trace", "CHIME_LOG", "debug"},
      {"NVSHMEM_DEBUG", "VERSION", "CHIME_LOG", "warn"},
      {"NVSHMEM_BOOTSTRAP", "MPI", "CHIME_BOOTSTRAP", "auto"},
      {"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "=eth0", "CHIME_BOOTSTRAP_IF", "eth0"},
      {"NVSHMEM_HCA_LIST", "mlx5_1:1", "CHIME_NIC", "mlx5_1:1"},
      {"NVSHMEM_REMOTE_TRANSPORT", "none", "CHIME_NIC", "off"},
      {"NVSHMEM_IB_ENABLE_RELAXED_ORDERING", "0", "CHIME_NIC_RELAXED_ORDERING", "off"},
      {"NVSHMEM_IB_ENABLE_RELAXED_ORDERING", "1", "CHIME_NIC_RELAXED_ORDERING", "on"},
      {"NVSHMEM_IBGDA_NIC_HANDLER", "cpu_host_memory", "CHIME_NIC_DOORBELL", "cpu"},
      {"NVSHMEM_IBGDA_NIC_HANDLER", "gpu", "CHIME_NIC_DOORBELL", "direct"},
      {"NVSHMEM_IBGDA_NUM_RC_PER_PE", "4", "CHIME_NIC_SLOTS", "4"},
      {"NVSHMEM_QP_DEPTH", "2048", "CHIME_QP_DEPTH", "2048"},
      {"NVSHMEM_IB_GID_INDEX", "-1", "CHIME_NIC_GID_INDEX", "auto"},
      {"NVSHMEM_IB_GID_INDEX", "3", "CHIME_NIC_GID_INDEX", "3"},
      {"NVSHMEM_IB_SL", "3", "CHIME_NIC_SL", "3"},
      {"NVSHMEM_IB_TRAFFIC_CLASS", "96", "CHIME_NIC_TCLASS", "96"},
      {"NVSHMEM_IB_TIMEOUT", "20", "CHIME_NIC_TIMEOUT", "20"},
      {"NVSHMEM_IB_RETRY_CNT", "5", "CHIME_NIC_RETRY", "5"},
      {"NVSHMEM_PROXY_REQUEST_BATCH_MAX", "64", "CHIME_PROXY_BATCH", "64"},
      {"NVSHMEM_LIBFABRIC_PROVIDER", "verbs", "CHIME_FABRIC", "verbs;ofi_rxm"},
      {"NVSHMEM_ENABLE_ERROR_CHECKS", "true", "CHIME_CHECK", "1"}};
  for (const auto& [theirs, text, ours, value] : rows) {
    EXPECT_EQ(read_by_nvshmem({{theirs, text}}, ours), value) << theirs << "=" << text;
    EXPECT_THAT(warnings_by_nvshmem({{theirs, text}}), IsEmpty()) << theirs << "=" << text;
    EXPECT_EQ(settings_with({{theirs, text}}).symmetric_bytes, std::size_t{1} << 30)
        << "a program by Chime's names does not read it";
  }
}

TEST(NvshmemVariables, ThatMeanNothingHereLeaveTheDefaultAndAreReported) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"NVSHMEM_SYMMETRIC_SIZE", "much", "CHIME_SYMMETRIC_SIZE"},
      {"NVSHMEM_DISABLE_P2P", "perhaps", "CHIME_P2P"},
      {"NVSHMEM_HCA_LIST", "mlx5_0,mlx5_1", "CHIME_NIC"},
      {"NVSHMEM_HCA_LIST", "^mlx5_0", "CHIME_NIC"},
      {"NVSHMEM_HCA_PE_MAPPING", "mlx5_0:1:2", "CHIME_NIC"},
      {"NVSHMEM_REMOTE_TRANSPORT", "ibrc", "CHIME_NIC"},
      {"NVSHMEM_IBGDA_NUM_RC_PER_PE", "3", "CHIME_NIC_SLOTS"},
      {"NVSHMEM_BOOTSTRAP", "plugin", "CHIME_BOOTSTRAP"},
      {"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "^docker", "CHIME_BOOTSTRAP_IF"},
      {"NVSHMEM_BOOTSTRAP_MPI_PLUGIN", "nvshmem_bootstrap_mpi.so.3", "CHIME_MPI_PLUGIN"}};
  for (const auto& [theirs, text, ours] : rows) {
    EXPECT_EQ(read_by_nvshmem({{theirs, text}}, ours), "unset") << theirs << "=" << text;
    EXPECT_THAT(warnings_by_nvshmem({{theirs, text}}),
                ElementsAre(::testing::StartsWith(
                    std::string(theirs) + "=" + text +
                    " is not obeyed: this value means nothing here; Chime's variable is " + ours)));
  }
  EXPECT_THAT(warnings_by_nvshmem({{"NVSHMEM_INFO", "1"}, {"NVSHMEM_MAX_P2P_GPUS", "4"}}),
              ElementsAre(HasSubstr("chime-info --variables says it")));
}

TEST(NvshmemVariables, AVariableOfChimesCountsAndSaysSo) {
  const Pairs both{{"NVSHMEM_SYMMETRIC_SIZE", "2G"}, {"CHIME_SYMMETRIC_SIZE", "64M"}};
  EXPECT_EQ(read_by_nvshmem(both, "CHIME_SYMMETRIC_SIZE"), "64M");
  EXPECT_THAT(
      warnings_by_nvshmem(both),
      ElementsAre("CHIME_SYMMETRIC_SIZE=64M counts, and NVSHMEM_SYMMETRIC_SIZE=2G does not"));
  EXPECT_THAT(warnings_by_nvshmem({{"NVSHMEM_DISABLE_P2P", "1"}, {"CHIME_P2P", "off"}}), IsEmpty());
  EXPECT_EQ(read_by_nvshmem({{"CHIME_TIMEOUT", "3"}}, "CHIME_TIMEOUT"), "3");
  EXPECT_EQ(read_by_nvshmem({{"HOME", "here"}}, "CHIME_TIMEOUT"), "unset");
}

TEST(Environment, NoCounterpartStandsInTwoRows) {
  std::set<std::string> seen;
  for (const Variable& variable : variables()) {
    std::istringstream words{std::string(variable.counterparts)};
    for (std::string word; words >> word;) {
      EXPECT_TRUE(seen.insert(word).second) << word;
      EXPECT_FALSE(word.starts_with("CHIME_")) << word;
    }
  }
  EXPECT_GT(seen.size(), 20u);
}

TEST(Environment, EveryRowHasASentence) {
  std::set<std::string_view> names;
  for (const Variable& variable : variables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name << " stands twice";
    EXPECT_TRUE(variable.sentence.ends_with('.')) << variable.name;
    EXPECT_FALSE(variable.values.empty()) << variable.name;
  }
}

// A name in a string of the sources is read or set there, and needs a row.
TEST(Environment, EveryVariableThatTheSourcesNameIsInTheTable) {
  std::set<std::string, std::less<>> known, named;
  for (const Variable& variable : variables()) known.emplace(variable.name);
  const std::regex name(R"re("(CHIME_[A-Z0-9_]*[A-Z0-9])")re");
  for (const char* folder : {"bootstrap", "device", "host", "tools"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(CHIME_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::string source = text.str();
      for (std::sregex_iterator hit(source.begin(), source.end(), name), end; hit != end; ++hit)
        named.insert((*hit)[1]);
    }
  EXPECT_THAT(named, ::testing::ContainerEq(known));
}

}  // namespace
}  // namespace chime::host
