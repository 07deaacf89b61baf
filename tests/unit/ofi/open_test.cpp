// When a PE has a fabric, and its reason where it has none.
#include "host/transport/ofi/open.hpp"

#include <gmock/gmock.h>

#include "gpu_apart.hpp"
#include "host/errors/error.hpp"
#include "host/transport/ofi/endpoint_info.hpp"
#include "host/transport/ofi/transport.hpp"

namespace chime::host {
namespace {

using testing::HasSubstr;

// A PE, of two on one node, that may open a fabric.
class OfiOpen : public testing::Test {
 protected:
  std::unique_ptr<Transport> open(const FabricOptions& fabric, bool reaches_all = false) {
    return open_ofi({.my_pe = 0,
                     .n_pes = 2,
                     .node_pe = 0,
                     .is_one_node = true,
                     .job = "a job",
                     .gpu = *gpu_,
                     .heap = heap_,
                     .p2p = {},
                     .nic = {},
                     .fabric = fabric,
                     .reaches_all = reaches_all});
  }
  std::string refusal(const FabricOptions& fabric) {
    try {
      open(fabric);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::unique_ptr<Gpu> gpu_ = open_simt_gpu();
  std::shared_ptr<DeviceMemory> heap_ = gpu_->allocate_heap(1 << 20);
};

#define SKIP_WITHOUT_LIBFABRIC()  \
  try {                           \
    ofi::libfabric();             \
  } catch (const Error& error) {  \
    GTEST_SKIP() << error.what(); \
  }

TEST_F(OfiOpen, OffOpensNone) { EXPECT_EQ(open({.provider = "off"}), nullptr); }

TEST_F(OfiOpen, AutoOpensNoneWhereOthersReachAll) { EXPECT_EQ(open({}, true), nullptr); }

TEST_F(OfiOpen, WhatIsNamedIsOpenedWhereOthersReachAll) {
  SKIP_WITHOUT_LIBFABRIC();
  EXPECT_NE(open({.provider = "tcp;ofi_rxm"}, true), nullptr);
}

TEST_F(OfiOpen, AutoTakesTcpOnAMachineWithoutAFabric) {
  SKIP_WITHOUT_LIBFABRIC();
  const auto transport = open({});
  ASSERT_NE(transport, nullptr);
  EXPECT_THAT(transport->describe(), HasSubstr("tcp;ofi_rxm 117.0 of libfabric 1.17 at "));
  EXPECT_NE(transport->host_driven(), nullptr);
  const Capabilities can = transport->capabilities();
  EXPECT_TRUE(can.path == Path::kProxy && can.reach == Reach::kJob && can.posts && !can.maps);
}

TEST_F(OfiOpen, AProviderThatIsNotThereIsAnErrorThatNamesThoseThatAre) {
  SKIP_WITHOUT_LIBFABRIC();
  const std::string why = refusal({.provider = "warp"});
  EXPECT_THAT(why, HasSubstr("CHIME_FABRIC: 'warp' is not one of libfabric's providers"));
  EXPECT_THAT(why, HasSubstr("tcp;ofi_rxm"));
  EXPECT_THAT(why, HasSubstr("shm"));
}

TEST_F(OfiOpen, AnInterfaceThatIsNotThereIsAnError) {
  SKIP_WITHOUT_LIBFABRIC();
  EXPECT_THAT(refusal({.provider = "tcp;ofi_rxm", .interface = "warp0"}), HasSubstr("warp0"));
}

// ---- A GPU's heap

TEST_F(OfiOpen, AGpusMemoryThatTheProviderDoesNotReachGoesThroughTheHosts) {
  SKIP_WITHOUT_LIBFABRIC();
  gpu_ = std::make_unique<GpuApart>(GpuApart::Traits{});
  for (const char* const provider : {"tcp;ofi_rxm", "shm"}) {
    const auto transport = open({.provider = provider});
    ASSERT_NE(transport, nullptr);
    ASSERT_NE(transport->host_driven(), nullptr);
    EXPECT_TRUE(transport->host_driven()->owns_words());
    EXPECT_THAT(transport->describe(), HasSubstr("data goes through the host's"));
    const ofi::EndpointInfo endpoint_info =
        ofi::read_endpoint_info(0, transport->own_endpoint_info().bytes);
    EXPECT_TRUE(endpoint_info.bounces && endpoint_info.has_pool && !endpoint_info.takes_puts);
    EXPECT_EQ(endpoint_info.key, 0u) << "the heap is not shown";
  }
}

TEST_F(OfiOpen, AProcessorsHeapHasNoSlots) {
  SKIP_WITHOUT_LIBFABRIC();
  const auto transport = open({.provider = "tcp;ofi_rxm"});
  const ofi::EndpointInfo endpoint_info =
      ofi::read_endpoint_info(0, transport->own_endpoint_info().bytes);
  EXPECT_TRUE(!endpoint_info.bounces && !endpoint_info.has_pool && endpoint_info.takes_puts);
  EXPECT_FALSE(transport->host_driven()->owns_words());
}

// ---- Endpoint infos that do not fit

class OfiFit : public OfiOpen {
 protected:
  // The PE's message about PE 1, which has this endpoint info except for the changes of `change`.
  std::string refused(void (*change)(ofi::EndpointInfo&)) {
    const auto transport = open({.provider = provider_});
    ofi::EndpointInfo endpoint_info =
        ofi::read_endpoint_info(0, transport->own_endpoint_info().bytes);
    change(endpoint_info);
    const EndpointInfoBytes bytes = ofi::write_endpoint_info(endpoint_info);
    try {
      const bool is_accepted = transport->accept(1, {.bytes = bytes}).is_accepted;
      return is_accepted ? "" : transport->why_not(1);
    } catch (const Error& error) {
      return std::string("error: ") + error.what();
    }
  }
  std::string provider_ = "tcp;ofi_rxm";
};

TEST_F(OfiFit, OneOfTheSameKindIsAccepted) {
  SKIP_WITHOUT_LIBFABRIC();
  EXPECT_EQ(refused([](ofi::EndpointInfo&) {}), "");
}

TEST_F(OfiFit, AnotherProviderIsRefusedWithBothNames) {
  SKIP_WITHOUT_LIBFABRIC();
  const std::string why =
      refused([](ofi::EndpointInfo& endpoint_info) { endpoint_info.provider = "efa"; });
  EXPECT_THAT(why, HasSubstr("PE 1"));
  EXPECT_THAT(why, HasSubstr("efa"));
  EXPECT_THAT(why, HasSubstr("tcp;ofi_rxm"));
  EXPECT_THAT(why, HasSubstr("CHIME_FABRIC"));
}

TEST_F(OfiFit, APeWithoutAFabricIsRefusedWithItsReason) {
  SKIP_WITHOUT_LIBFABRIC();
  EXPECT_THAT(refused([](ofi::EndpointInfo& endpoint_info) {
                endpoint_info = {.why_none = "it is not installed"};
              }),
              HasSubstr("PE 1 is not reached by the host: it has no fabric: it is not installed"));
}

TEST_F(OfiFit, AnAddressOfAnotherFamilyIsRefused) {
  SKIP_WITHOUT_LIBFABRIC();
  EXPECT_THAT(refused([](ofi::EndpointInfo& endpoint_info) { ++endpoint_info.address_format; }),
              HasSubstr("CHIME_IFACE"));
}

// libfabric gets no length: it reads as many bytes as the family has.
TEST_F(OfiFit, AnAddressThatIsNotAsLongAsThoseOfItsFamilyIsRefused) {
  SKIP_WITHOUT_LIBFABRIC();
  for (const std::string& why :
       {refused([](ofi::EndpointInfo& endpoint_info) { endpoint_info.address.clear(); }),
        refused([](ofi::EndpointInfo& endpoint_info) { endpoint_info.address.pop_back(); }),
        refused([](ofi::EndpointInfo& endpoint_info) { endpoint_info.address.push_back({}); })})
    EXPECT_THAT(why, AllOf(HasSubstr("its address has "), HasSubstr("libfabric")));
}

TEST_F(OfiFit, ANameThatDoesNotEndIsRefused) {
  SKIP_WITHOUT_LIBFABRIC();
  provider_ = "shm";
  EXPECT_EQ(refused([](ofi::EndpointInfo&) {}), "");
  for (const std::string& why :
       {refused([](ofi::EndpointInfo& endpoint_info) { endpoint_info.address.clear(); }),
        refused([](ofi::EndpointInfo& endpoint_info) {
          endpoint_info.address.back() = std::byte{'x'};
        })})
    EXPECT_THAT(why, HasSubstr("its address does not end"));
}

// Traffic with a GPU's PE takes slots at both ends.
TEST_F(OfiFit, AGpusHeapAndAProcessorsDoNotFit) {
  SKIP_WITHOUT_LIBFABRIC();
  EXPECT_THAT(refused([](ofi::EndpointInfo& endpoint_info) {
                endpoint_info.bounces = endpoint_info.has_pool = true;
              }),
              HasSubstr("CHIME_DEVICE"));
  gpu_ = std::make_unique<GpuApart>(GpuApart::Traits{});
  EXPECT_EQ(refused([](ofi::EndpointInfo&) {}), "");
  EXPECT_THAT(refused([](ofi::EndpointInfo& endpoint_info) {
                endpoint_info.bounces = endpoint_info.has_pool = false;
              }),
              HasSubstr("CHIME_DEVICE"));
}

// A PE whose provider knows its GPU uses the other one's slots.
TEST_F(OfiFit, AGpuWithSupportOfItsProviderFitsOneWithout) {
  SKIP_WITHOUT_LIBFABRIC();
  gpu_ = std::make_unique<GpuApart>(GpuApart::Traits{});
  EXPECT_EQ(refused([](ofi::EndpointInfo& endpoint_info) { endpoint_info.bounces = false; }), "");
}

TEST_F(OfiFit, AHeapOfAnotherSizeIsAnErrorWithBothSizes) {
  SKIP_WITHOUT_LIBFABRIC();
  EXPECT_THAT(refused([](ofi::EndpointInfo& endpoint_info) { endpoint_info.heap_bytes *= 2; }),
              HasSubstr("error: symmetric heap: PE 1 has "));
}

}  // namespace
}  // namespace chime::host
