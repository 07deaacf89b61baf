// The number of devices where CHIME_SOFTGPU_DEVICES is unset: one for each PE of the node, by the
// launcher's variables.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "driver.hpp"

namespace {

struct Seen {
  int devices = -1;
  std::size_t bytes_of_each = 0;
  std::string last_address;
  bool addresses_lead_back = true;
};

Seen look() {
  Seen seen;
  EXPECT_CU(cuInit(0), CUDA_SUCCESS);
  EXPECT_CU(cuDeviceGetCount(&seen.devices), CUDA_SUCCESS);
  EXPECT_CU(cuDeviceTotalMem(&seen.bytes_of_each, 0), CUDA_SUCCESS);
  for (int i = 0; i < seen.devices; ++i) {
    char address[16] = "";
    CUdevice device = -1;
    EXPECT_CU(cuDeviceGetPCIBusId(address, sizeof address, i), CUDA_SUCCESS);
    seen.addresses_lead_back &=
        cuDeviceGetByPCIBusId(&device, address) == CUDA_SUCCESS && device == i;
  }
  return seen;
}

using Variables = std::initializer_list<std::pair<const char*, const char*>>;

// In another process: a process counts its devices once. Expects so many, which divide half of the
// machine's memory.
void expect_devices(int devices, Variables variables) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const char* of_a_launcher :
         {"CHIME_RUN_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
          "SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID", "CHIME_SOFTGPU_DEVICES"})
      ::unsetenv(of_a_launcher);
    std::string said;
    for (const auto& [name, value] : variables) {
      ::setenv(name, value, 1);
      said += std::string(" ") + name + "=" + value;
    }
    const Seen seen = look();
    EXPECT_EQ(seen.devices, devices) << said;
    EXPECT_TRUE(seen.addresses_lead_back) << said;
    const auto half = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 2;
    EXPECT_LE(seen.bytes_of_each * static_cast<std::size_t>(devices), half) << said;
    EXPECT_GT((seen.bytes_of_each + 1) * static_cast<std::size_t>(devices), half - (2 << 20))
        << said;
    ::_exit(testing::Test::HasFailure());
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(DefaultDevices, AreOneWithoutALauncher) { expect_devices(1, {}); }

TEST(DefaultDevices, AreAsManyAsTheNodeHasPes) {
  expect_devices(3, {{"CHIME_RUN_LOCAL_SIZE", "3"}});
  expect_devices(5, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "5"}});
  expect_devices(4, {{"MPI_LOCALNRANKS", "4"}});
  expect_devices(40, {{"CHIME_RUN_LOCAL_SIZE", "40"}});
  expect_devices(256, {{"CHIME_RUN_LOCAL_SIZE", "4096"}});
}

TEST(DefaultDevices, AreOfTheNodeThatThisIsInSlurmsList) {
  const char* const list = "4(x2),3,12(x3)";
  expect_devices(4, {{"SLURM_STEP_TASKS_PER_NODE", list}, {"SLURM_NODEID", "0"}});
  expect_devices(4, {{"SLURM_STEP_TASKS_PER_NODE", list}, {"SLURM_NODEID", "1"}});
  expect_devices(3, {{"SLURM_STEP_TASKS_PER_NODE", list}, {"SLURM_NODEID", "2"}});
  expect_devices(12, {{"SLURM_STEP_TASKS_PER_NODE", list}, {"SLURM_NODEID", "5"}});
  expect_devices(1, {{"SLURM_STEP_TASKS_PER_NODE", list}, {"SLURM_NODEID", "6"}});
}

TEST(DefaultDevices, AreOfTheInnerLauncher) {
  expect_devices(2, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                     {"SLURM_STEP_TASKS_PER_NODE", "7"},
                     {"SLURM_NODEID", "0"}});
  expect_devices(3, {{"CHIME_RUN_LOCAL_SIZE", "3"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
}

TEST(DefaultDevices, AreOneWhereTheVariableIsNoNumber) {
  expect_devices(1, {{"CHIME_RUN_LOCAL_SIZE", "many"}});
  expect_devices(1, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "-4"}});
  expect_devices(1, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "0"}});
  expect_devices(1, {{"SLURM_STEP_TASKS_PER_NODE", "4(x,3"}, {"SLURM_NODEID", "0"}});
  expect_devices(1, {{"SLURM_STEP_TASKS_PER_NODE", "4"}});
}

TEST(DefaultDevices, AreWhatTheVariableSaysBeforeWhatALauncherSays) {
  expect_devices(2, {{"CHIME_SOFTGPU_DEVICES", "2"}, {"CHIME_RUN_LOCAL_SIZE", "3"}});
  expect_devices(3, {{"CHIME_SOFTGPU_DEVICES", "257"}, {"CHIME_RUN_LOCAL_SIZE", "3"}});
}

}  // namespace
