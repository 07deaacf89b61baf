// The softnic beneath this process, from before the first verbs call, with a trace.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "softnic/softnic.h"

namespace chime::tests {

std::string trace_path;

namespace {

// A folder for the trace, gone with the program.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "golden-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no folder for the trace");
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

void activate_softnic(const std::string& trace) {
  void* const library = ::dlopen(SOFTNIC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(::dlerror());
  const auto activate =
      reinterpret_cast<decltype(&::softnic_activate)>(::dlsym(library, "softnic_activate"));
  const auto error =
      reinterpret_cast<decltype(&::softnic_error)>(::dlsym(library, "softnic_error"));
  const std::string fabric = "golden-" + std::to_string(::getpid());
  softnic_options options = SOFTNIC_OPTIONS_INIT;
  options.fabric = fabric.c_str();
  options.trace = trace.c_str();
  options.strict = 1;
  if (activate(&options) != SOFTNIC_OK) throw std::runtime_error(error());
}

}  // namespace
}  // namespace chime::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const chime::tests::Folder folder;
  chime::tests::trace_path = folder.path / "trace";
  chime::tests::activate_softnic(chime::tests::trace_path);
  return RUN_ALL_TESTS();
}
