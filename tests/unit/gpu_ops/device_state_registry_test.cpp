// The states in the units of a process, on GPUs that are two in name only: each has a copy of a
// unit, and a thread fills the copy of its current device.
#include "host/pe/device_state_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "chime/abi/tu_state.h"
#include "gpu_apart.hpp"
#include "host/errors/error.hpp"

namespace chime::host {
namespace {

thread_local std::string current_device = "first";

class NamedGpu final : public GpuApart {
 public:
  explicit NamedGpu(std::string address) : GpuApart({}), address_(std::move(address)) {}
  std::string pci_address() const override { return address_; }
  void with_device(const std::function<void()>& body) override {
    if (is_lost) throw Error("CUDA driver", CHIMEX_ERR_SYSTEM, "the GPU is lost");
    ++times_entered;
    const std::string before = std::exchange(current_device, address_);
    body();
    current_device = before;
  }
  // A module's handle is the address of its state here.
  std::optional<ModuleVariable> find_variable(const ProgramModule& module, const char*) override {
    return ModuleVariable{static_cast<std::byte*>(module.handle), sizeof(Context)};
  }
  void load_kernels(const ProgramModule& module) override { load(module.handle); }
  void load_kernels_beside(void* kernel) override { load(kernel); }

  bool is_lost = false, is_old = false;
  int times_entered = 0;
  std::vector<void*> loaded;

 private:
  void load(void* what) {
    if (is_old) throw Error("CUDA driver", CHIMEX_ERR_UNSUPPORTED, "the driver is old");
    loaded.push_back(what);
  }

  const std::string address_;
};

// The contents of a unit's variable on a device: -1 is no PE, as before it is filled.
std::map<std::string, int> held;
bool is_loaded;

int held_on(const std::string& device) { return held.count(device) ? held[device] : -1; }

const char* fill(const void* context, std::size_t bytes) {
  if (bytes != sizeof(Context)) return "a Context of another size";
  if (!is_loaded) return "its variables are not known";
  const auto& given = *static_cast<const Context*>(context);
  held[current_device] = given.abi_version == 0 ? -1 : given.pe.my_pe;
  return nullptr;
}

char a_kernel;

const char* kernel(void** function) {
  *function = &a_kernel;
  return nullptr;
}

Context of_pe(int pe) {
  Context context;
  context.abi_version = kAbiVersion;
  context.pe.my_pe = pe;
  return context;
}

class TuRegistry : public testing::Test {
 protected:
  TuRegistry() {
    held.clear();
    is_loaded = true;
  }
  void add_unit() { chime_register_tu(&unit_), is_there_ = true; }
  ~TuRegistry() override {
    for (NamedGpu* gpu : {&first_, &again_, &second_}) device_state_registry::clear(*gpu);
    if (is_there_) chime_unregister_tu(&unit_);
    EXPECT_TRUE(device_state_registry::empty());
  }

  NamedGpu first_{"first"}, again_{"first"}, second_{"second"};

 private:
  chime_tu unit_{kAbiVersion, sizeof(Context), "unit.cu", fill, nullptr, nullptr, kernel};
  bool is_there_ = false;
};

TEST_F(TuRegistry, AUnitHoldsThePeOfItsGpuUntilThatLeaves) {
  add_unit();
  EXPECT_FALSE(device_state_registry::empty());
  device_state_registry::fill_all(of_pe(3), first_);
  EXPECT_EQ(held_on("first"), 3);
  device_state_registry::clear(first_);
  EXPECT_EQ(held_on("first"), -1);
}

// The caller's current device does not matter: it is the first all the time.
TEST_F(TuRegistry, EachGpuHoldsItsOwnPe) {
  add_unit();
  device_state_registry::fill_all(of_pe(0), first_);
  device_state_registry::fill_all(of_pe(1), second_);
  EXPECT_EQ(held_on("first"), 0);
  EXPECT_EQ(held_on("second"), 1);
  device_state_registry::clear(second_);
  EXPECT_EQ(held_on("first"), 0);
  EXPECT_EQ(held_on("second"), -1);
}

TEST_F(TuRegistry, AGpuOfTwoPesHoldsNobodyAndThenWhoIsLeft) {
  add_unit();
  device_state_registry::fill_all(of_pe(0), first_);
  device_state_registry::fill_all(of_pe(1), again_);
  EXPECT_EQ(held_on("first"), -1);
  device_state_registry::clear(first_);
  EXPECT_EQ(held_on("first"), 1);
}

TEST_F(TuRegistry, AUnitThatComesLateIsFilledOnEveryGpu) {
  device_state_registry::fill_all(of_pe(0), first_);
  device_state_registry::fill_all(of_pe(1), second_);
  add_unit();
  EXPECT_EQ(held_on("first"), 0);
  EXPECT_EQ(held_on("second"), 1);
}

// A late unit may come while kernels run, and loading might wait for them.
TEST_F(TuRegistry, KernelsAreLoadedAtInit) {
  add_unit();
  device_state_registry::fill_all(of_pe(0), first_);
  EXPECT_THAT(first_.loaded, testing::ElementsAre(&a_kernel));
  device_state_registry::fill_all(of_pe(1), second_);
  EXPECT_THAT(second_.loaded, testing::ElementsAre(&a_kernel));
  Context state;
  state.size = kAbiVersion;
  const ProgramModule module{ProgramModule::Kind::kModule, &state};
  device_state_registry::init_module(module, second_);
  EXPECT_THAT(second_.loaded, testing::ElementsAre(&a_kernel, &state));
  device_state_registry::finalize_module(module, second_);
}

TEST_F(TuRegistry, KernelsThatCannotBeLoadedAreReportedOnceAndStillRun) {
  add_unit();
  first_.is_old = second_.is_old = true;
  testing::internal::CaptureStderr();
  device_state_registry::fill_all(of_pe(3), first_);
  device_state_registry::fill_all(of_pe(1), second_);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("PE 3: the kernels of unit.cu cannot be loaded at init: "));
  EXPECT_THAT(said, testing::HasSubstr("the driver is old"));
  EXPECT_THAT(said, testing::HasSubstr("CUDA_MODULE_LOADING=EAGER"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  EXPECT_EQ(held_on("first"), 3);
}

TEST_F(TuRegistry, OneThatIsNotLoadedYetIsFilledLater) {
  is_loaded = false;
  device_state_registry::fill_all(of_pe(0), first_);
  device_state_registry::fill_all(of_pe(1), second_);
  add_unit();
  device_state_registry::fill_late_units();
  EXPECT_EQ(held_on("first"), -1);
  is_loaded = true;
  device_state_registry::clear(first_);
  const int entered = first_.times_entered;
  device_state_registry::fill_late_units();
  EXPECT_EQ(first_.times_entered, entered) << "its PE has left, and the GPU may be gone";
  EXPECT_EQ(held_on("second"), 1);
}

// Like a unit's, but its memory may belong to another object later.
TEST_F(TuRegistry, AModuleHoldsWhatUnitsHoldAsLongAsItIsThere) {
  Context state;
  state.size = kAbiVersion;
  const ProgramModule module{ProgramModule::Kind::kModule, &state};
  device_state_registry::fill_all(of_pe(3), first_);
  device_state_registry::init_module(module, first_);
  EXPECT_EQ(state.pe.my_pe, 3);
  device_state_registry::fill_all(of_pe(4), again_);
  EXPECT_EQ(state.abi_version, 0u) << "a kernel would not know which of the two it is for";
  device_state_registry::clear(again_);
  EXPECT_EQ(state.pe.my_pe, 3);
  device_state_registry::finalize_module(module, first_);
  EXPECT_EQ(state.abi_version, 0u);
  EXPECT_THROW(device_state_registry::finalize_module(module, first_), Error);
  device_state_registry::init_module(module, first_);
  state.pe.my_pe = 77;
  device_state_registry::clear(first_);
  EXPECT_EQ(state.pe.my_pe, 77);
}

TEST_F(TuRegistry, ALostGpuIsAnErrorAtInitAndNoneAtLeaving) {
  add_unit();
  first_.is_lost = true;
  try {
    device_state_registry::fill_all(of_pe(0), first_);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the GPU is lost"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(device_state_registry::clear(first_));
}

}  // namespace
}  // namespace chime::host
