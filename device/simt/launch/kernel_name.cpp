#include "chime/device/simt/launch/kernel_name.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "chime/device/simt/faults/immortal.hpp"

namespace chime::simt {

namespace {

struct KernelNames {
  std::mutex mutex;
  std::unordered_map<const void*, std::string> known;  // by address; names do not move
};

std::string demangled(const char* symbol) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Free> text(::abi::__cxa_demangle(symbol, nullptr, nullptr, &status));
  return text ? text.get() : symbol;
}

std::string look_up(const void* kernel) {
  Dl_info info{};
  link_map* map = nullptr;
  char place[32];
  if (!dladdr1(kernel, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map) {
    std::snprintf(place, sizeof place, "%p", kernel);
    return place;
  }
  if (info.dli_sname && info.dli_saddr == kernel) return demangled(info.dli_sname);
  const std::string file = info.dli_fname;
  std::snprintf(place, sizeof place, "+%#zx",
                static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(kernel) - map->l_addr));
  return file.substr(file.rfind('/') + 1) + place;
}

}  // namespace

const char* kernel_name(const void* kernel) {
  const TsanIgnores ignores;
  KernelNames& names = immortal<KernelNames>();
  const std::lock_guard lock(names.mutex);
  std::string& name = names.known[kernel];
  if (name.empty()) name = look_up(kernel);
  return name.c_str();
}

}  // namespace chime::simt
