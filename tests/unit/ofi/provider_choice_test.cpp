// Which providers are tried, and at which addresses.
#include "host/transport/ofi/fabric/provider_choice.hpp"

#include <gmock/gmock.h>

#include "host/errors/error.hpp"

namespace chime::host::ofi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Circumstances kOneNode{.is_one_node = true}, kNodes{.is_one_node = false};

TEST(OfiProviderChoice, AutoTriesFabricsBeforeTcpAndSharedMemoryOnOneNodeAlone) {
  EXPECT_THAT(candidates({}, kNodes), ElementsAre("cxi", "efa", "verbs;ofi_rxm", "tcp;ofi_rxm"));
  EXPECT_THAT(candidates({}, kOneNode),
              ElementsAre("cxi", "efa", "verbs;ofi_rxm", "tcp;ofi_rxm", "shm"));
}

// Its memory is staged in the host's.
TEST(OfiProviderChoice, AGpuLeavesNoProviderOut) {
  EXPECT_EQ(candidates({}, {.is_one_node = true, .is_gpu = true}),
            candidates({}, {.is_one_node = true, .is_gpu = false}));
}

// With others libfabric would copy on a stream that a kernel may block.
TEST(OfiProviderChoice, OnlyDevicesAreAskedToMoveAGpusMemory) {
  EXPECT_TRUE(moves_gpu_memory("cxi") && moves_gpu_memory("efa") &&
              moves_gpu_memory("verbs;ofi_rxm"));
  EXPECT_FALSE(moves_gpu_memory("tcp;ofi_rxm") || moves_gpu_memory("shm") ||
               moves_gpu_memory("sockets"));
}

TEST(OfiProviderChoice, WhatIsNamedIsTriedAlone) {
  EXPECT_THAT(candidates({.provider = "net"}, kNodes), ElementsAre("net"));
}

std::vector<net::Interface> interfaces() {
  const auto one = [](const char* name, const char* address, bool is_loopback = false) {
    return net::Interface{name, net::Address::internet(address, 0), is_loopback};
  };
  return {one("eth0", "fd00::7"), one("eth0", "10.0.0.7"), one("ib0", "10.1.0.7"),
          one("lo", "127.0.0.1", true), one("lo", "::1", true)};
}

std::vector<std::string> texts(const std::string& provider, const FabricOptions& options,
                               const Circumstances& where,
                               const std::vector<net::Interface>& all = interfaces()) {
  std::vector<std::string> texts;
  for (const auto& address : addresses_for(provider, options, where, all))
    texts.push_back(address.text());
  return texts;
}

TEST(OfiProviderChoice, TcpOfOneNodeTakesLoopback) {
  EXPECT_THAT(texts("tcp;ofi_rxm", {}, kOneNode), ElementsAre("127.0.0.1:0", "[::1]:0"));
}

TEST(OfiProviderChoice, TcpOfSeveralTakesWhatOthersReachAndIpv4First) {
  EXPECT_THAT(texts("tcp;ofi_rxm", {}, kNodes),
              ElementsAre("10.0.0.7:0", "10.1.0.7:0", "[fd00::7]:0"));
}

TEST(OfiProviderChoice, WhereThereIsNoOtherLoopbackServes) {
  EXPECT_THAT(
      texts("tcp;ofi_rxm", {}, kNodes, {{"lo", net::Address::internet("127.0.0.1", 0), true}}),
      ElementsAre("127.0.0.1:0"));
}

TEST(OfiProviderChoice, AnInterfaceThatIsNamedIsTaken) {
  for (const Circumstances& where : {kOneNode, kNodes})
    for (const char* provider : {"tcp;ofi_rxm", "verbs;ofi_rxm"})
      EXPECT_THAT(texts(provider, {.interface = "ib0"}, where), ElementsAre("10.1.0.7:0"));
}

TEST(OfiProviderChoice, OthersKnowTheirAddressesThemselves) {
  for (const char* provider : {"cxi", "efa", "verbs;ofi_rxm", "shm"})
    EXPECT_THAT(texts(provider, {}, kNodes), testing::IsEmpty()) << provider;
}

TEST(OfiProviderChoice, AnInterfaceThatIsNotThereIsAnErrorThatNamesThoseThatAre) {
  try {
    texts("tcp;ofi_rxm", {.interface = "eth7"}, kNodes);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.origin(), "CHIME_IFACE");
    EXPECT_THAT(error.what(), HasSubstr("eth7"));
    EXPECT_THAT(error.what(), HasSubstr("eth0, ib0, lo"));
  }
}

}  // namespace
}  // namespace chime::host::ofi
