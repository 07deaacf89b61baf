// One address of a node's heaps, where each step may fail on any PE: then there is none on any, all
// give the same reason, and nothing of it is left. PEs are threads; the GPU's driver is a stand-in.
#include "host/teams/multicast.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/hub/tcp.hpp"
#include "gpu_apart.hpp"
#include "host/errors/error.hpp"
#include "support/meet.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;

constexpr int kPes = 3;

enum class Step { kCreate, kJoin, kAdd, kBind };
constexpr const char* kCalls[] = {"cuMulticastCreate", "cuMemImportFromShareableHandle",
                                  "cuMulticastAddDevice", "cuMulticastBindMem"};

// Refusals are set before PEs begin. The counts are those of all PEs.
struct Driver {
  std::vector<std::pair<Step, int>> refusals;
  std::atomic<int> objects{0}, added{0}, bindings{0}, waits{0};

  void call(Step step, int pe) const {
    for (const auto& [refused, whose] : refusals)
      if (refused == step && whose == pe)
        throw Error(
            "CUDA driver", CHIMEX_ERR_SYSTEM,
            std::string(kCalls[static_cast<int>(step)]) + ": refused to PE " + std::to_string(pe));
  }
};

class Object final : public Multicast {
 public:
  Object(Driver& driver, int pe, int fd) : driver_(driver), pe_(pe), fd_(fd) { ++driver_.objects; }
  ~Object() override {
    --driver_.objects;
    ::close(fd_);
  }
  int share_fd() const override { return fd_; }
  void add_device() override {
    driver_.call(Step::kAdd, pe_);
    ++driver_.added;
  }
  std::byte* bind(const DeviceMemory& heap) override {
    if (driver_.added != kPes) ++driver_.waits;
    driver_.call(Step::kBind, pe_);
    ++driver_.bindings;
    return heap.address();
  }

 private:
  Driver& driver_;
  const int pe_, fd_;
};

class GpuWithMulticast final : public GpuApart {
 public:
  GpuWithMulticast(Driver& driver, int pe) : GpuApart(Traits{}), driver_(driver), pe_(pe) {}

  std::string pci_address() const override { return "0000:0" + std::to_string(pe_) + ":00.0"; }
  std::string why_no_multicast(const DeviceMemory&, unsigned) override { return {}; }
  std::unique_ptr<Multicast> create_multicast(std::size_t, unsigned) override {
    driver_.call(Step::kCreate, pe_);
    return std::make_unique<Object>(driver_, pe_, ::memfd_create("multicast", MFD_CLOEXEC));
  }
  std::unique_ptr<Multicast> join_multicast(int fd, std::size_t) override {
    driver_.call(Step::kJoin, pe_);
    return std::make_unique<Object>(driver_, pe_, ::dup(fd));
  }

 private:
  Driver& driver_;
  const int pe_;
};

struct Outcome {
  bool has_object, has_address;
  std::vector<int> pes;
  std::string why_not;
};

Outcome make_as(int pe, const chimex_uniqueid_t& id, Driver& driver) {
  const auto job = bootstrap::join_unique_id(id, pe, kPes, {.timeout = 20s});
  GpuWithMulticast gpu(driver, pe);
  const auto heap = gpu.allocate_heap(kHeapAlignment);
  const auto control = gpu.allocate_host_visible(4096);
  const NodeMulticast made =
      make_node_multicast({.bootstrap = *job,
                           .gpu = gpu,
                           .heap = *heap,
                           .maps_all = true,
                           .control = *control,
                           .deadline = std::chrono::steady_clock::now() + 20s});
  bootstrap::test::meet(*job);
  return {made.object != nullptr, made.heaps != nullptr, made.pes, made.why_not};
}

std::vector<Outcome> make(Driver& driver) {
  const chimex_uniqueid_t id = bootstrap::create_unique_id("lo");
  std::vector<std::future<Outcome>> pes;
  for (int pe = 0; pe < kPes; ++pe)
    pes.push_back(std::async(std::launch::async, [&, pe] { return make_as(pe, id, driver); }));
  std::vector<Outcome> outcomes;
  for (auto& pe : pes) {
    try {
      outcomes.push_back(pe.get());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_EQ(driver.objects, 0);
  EXPECT_EQ(driver.waits, 0) << "bound before all devices were added: the driver would wait";
  return outcomes;
}

void expect_none(const std::vector<Outcome>& outcomes, const std::string& why) {
  ASSERT_EQ(outcomes.size(), kPes);
  for (const Outcome& outcome : outcomes) {
    EXPECT_FALSE(outcome.has_object);
    EXPECT_FALSE(outcome.has_address);
    EXPECT_TRUE(outcome.pes.empty());
    EXPECT_EQ(outcome.why_not, why);
  }
}

TEST(NodeMulticast, IsThatOfAllPesOfANode) {
  Driver driver;
  const std::vector<Outcome> outcomes = make(driver);
  ASSERT_EQ(outcomes.size(), kPes);
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(outcome.has_object);
    EXPECT_TRUE(outcome.has_address);
    EXPECT_EQ(outcome.pes, (std::vector{0, 1, 2}));
    EXPECT_EQ(outcome.why_not, "");
  }
  EXPECT_EQ(driver.bindings, kPes);
}

TEST(NodeMulticast, IsNoneOnAnyPeWhereADriverRefusesAStepToOne) {
  for (const auto& [step, pe] : {std::pair{Step::kCreate, 0},
                                 {Step::kJoin, 1},
                                 {Step::kJoin, 2},
                                 {Step::kAdd, 0},
                                 {Step::kAdd, 1},
                                 {Step::kAdd, 2},
                                 {Step::kBind, 0},
                                 {Step::kBind, 1},
                                 {Step::kBind, 2}}) {
    const std::string call = kCalls[static_cast<int>(step)], name = "PE " + std::to_string(pe);
    SCOPED_TRACE(call + " of " + name);
    Driver driver;
    driver.refusals = {{step, pe}};
    expect_none(make(driver), name + ": " + call + ": refused to " + name);
    EXPECT_EQ(driver.bindings, step == Step::kBind ? kPes - 1 : 0);
  }
}

TEST(NodeMulticast, IsNoneForTheReasonOfTheLowestPeThatIsRefused) {
  Driver driver;
  driver.refusals = {{Step::kAdd, 2}, {Step::kJoin, 1}, {Step::kBind, 0}};
  expect_none(make(driver), "PE 1: cuMemImportFromShareableHandle: refused to PE 1");
}

}  // namespace
}  // namespace chime::host
