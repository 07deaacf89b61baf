// Shared code of tests with the softnic in process: a separate fabric, one check that the NIC
// works, a folder.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "softnic.hpp"
#include "verbs.hpp"

inline Verbs load_verbs() {
  return Verbs(need(::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL), "libibverbs.so.1"));
}

inline void expect_loopback_works(const Verbs& verbs) {
  Endpoint endpoint(verbs);
  const Address self = endpoint.address();
  endpoint.connect(self);
  endpoint.word(0) = 0x1122334455667788;
  EXPECT_EQ(endpoint.write(self, 0, 100), IBV_WC_SUCCESS);
  EXPECT_EQ(endpoint.word(100), 0x1122334455667788u);
  EXPECT_EQ(endpoint.fetch_add(self, 5, 100, 1), IBV_WC_SUCCESS);
  EXPECT_EQ(endpoint.word(1), 0x1122334455667788u);
  EXPECT_EQ(endpoint.word(100), 0x112233445566778du);
}

inline void exchange(int socket, const Address& mine, Address& theirs) {
  if (::send(socket, &mine, sizeof mine, 0) != sizeof mine ||
      ::recv(socket, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
    throw std::runtime_error("the other process is gone");
}

inline softnic_options options_for_this_test() {
  softnic_options options = SOFTNIC_OPTIONS_INIT;
  static const std::string fabric = "in-process-" + std::to_string(::getpid());
  options.fabric = fabric.c_str();
  return options;
}

// Empty, and removed with its object.
struct Folder {
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "softnic-test-XXXXXX";
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp: " + name);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  std::filesystem::path path;
};
