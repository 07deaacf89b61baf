// Which backend makes the queue pairs of kernels, and where they lie, as a table.
#include "host/transport/mlx5/queues/queue_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

using enum NicBackend;
using testing::HasSubstr;

const QueueAbilities kCpu{.is_cpu = true, .orders_device_writes = true};
const QueueAbilities kGpu{.is_cpu = false, .orders_device_writes = true};

struct Row {
  const char* name;
  NicBackend asked;
  QueueAbilities abilities;
  NicBackend backend;
  QueuePlace place;
  const char* why_host;
};

const Row kRows[] = {
    {"CPU device", kAuto, kCpu, kVerbs, QueuePlace::kHost, ""},
    {"CPU device, verbs", kVerbs, kCpu, kVerbs, QueuePlace::kHost, ""},
    {"CPU device, devx", kDevx, kCpu, kDevx, QueuePlace::kDevice, ""},
    {"GPU", kAuto, kGpu, kDevx, QueuePlace::kDevice, ""},
    {"GPU, devx", kDevx, kGpu, kDevx, QueuePlace::kDevice, ""},
    {"GPU, verbs", kVerbs, kGpu, kVerbs, QueuePlace::kHost, "CHIME_NIC_BACKEND=verbs"},
    {"GPU without order", kAuto, {false, false}, kVerbs, QueuePlace::kHost, "WRITES_ORDERING"},
    {"GPU without order, devx", kDevx, {false, false}, kDevx, QueuePlace::kHost, "WRITES_ORDERING"},
    {"no devx", kAuto, {false, true, "the kernel has none"}, kVerbs, QueuePlace::kHost, "has none"},
};

TEST(QueueChoice, IsWhatTheTableSays) {
  for (const Row& row : kRows) {
    const QueueChoice choice = choose_queues(row.asked, row.abilities);
    EXPECT_EQ(choice.backend, row.backend) << row.name;
    EXPECT_EQ(choice.place, row.place) << row.name;
    EXPECT_THAT(choice.why_host, HasSubstr(row.why_host)) << row.name;
    EXPECT_EQ(choice.why_host.empty(), *row.why_host == '\0') << row.name;
  }
}

TEST(QueueChoice, DevxThatIsNotThereIsAnErrorThatNamesTheReason) {
  try {
    choose_queues(kDevx, {false, true, "the kernel has none"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the kernel has none"));
    EXPECT_THAT(error.what(), HasSubstr("CHIME_NIC_BACKEND=verbs"));
  }
}

TEST(QueueChoice, WhatCannotLieOnTheDeviceIsMadeInHostMemoryByTheBackendThatWasAskedFor) {
  EXPECT_EQ(in_host_memory(kAuto, "so").backend, kVerbs);
  EXPECT_EQ(in_host_memory(kDevx, "so").backend, kDevx);
  for (const NicBackend asked : {kAuto, kDevx}) {
    EXPECT_EQ(in_host_memory(asked, "so").place, QueuePlace::kHost);
    EXPECT_EQ(in_host_memory(asked, "so").why_host, "so");
  }
}

}  // namespace
}  // namespace chime::host::mlx5
