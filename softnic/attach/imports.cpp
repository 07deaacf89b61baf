// A loaded library calls another one through a table of addresses (its global offset table). The
// relocations of its dynamic section say which function each slot belongs to. Slots are usually
// read-only by then (RELRO), so their page is made writable for the one store.

#include "imports.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "shim.hpp"
#include "softnic/observe/log.hpp"

namespace softnic {
namespace {

#if defined(__x86_64__)
constexpr unsigned kJumpSlot = R_X86_64_JUMP_SLOT, kGlobalData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr unsigned kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobalData = R_AARCH64_GLOB_DAT;
#else
#error "imports.cpp: add this processor's relocation types"
#endif

constexpr std::string_view kLibraries[] = {"libibverbs.so", "libmlx5.so", "libmlx5-rdmav",
                                           "libnl-3.so", "librdmacm.so"};

void* softnic_dlopen(const char* path, int flags);

struct Replacement {
  std::string_view name;
  void* function;
};
// The names as they stand in libraries built for glibc, with and without 64-bit file offsets.
const Replacement kReplacements[] = {
    {"open", reinterpret_cast<void*>(&softnic_open)},
    {"open64", reinterpret_cast<void*>(&softnic_open)},
    {"stat", reinterpret_cast<void*>(&softnic_stat)},
    {"stat64", reinterpret_cast<void*>(&softnic_stat)},
    {"fstat", reinterpret_cast<void*>(&softnic_fstat)},
    {"fstat64", reinterpret_cast<void*>(&softnic_fstat)},
    {"access", reinterpret_cast<void*>(&softnic_access)},
    {"ioctl", reinterpret_cast<void*>(&softnic_ioctl)},
    {"write", reinterpret_cast<void*>(&softnic_write)},
    {"close", reinterpret_cast<void*>(&softnic_close)},
    {"socket", reinterpret_cast<void*>(&softnic_socket)},
    {"dlopen", reinterpret_cast<void*>(&softnic_dlopen)},
};

void* replacement_of(std::string_view name) {
  for (const Replacement& r : kReplacements)
    if (r.name == name) return r.function;
  return nullptr;
}

bool is_rdma_library(const char* path) {
  const std::string_view whole(path);
  const std::string_view name = whole.substr(whole.rfind('/') + 1);
  for (std::string_view library : kLibraries)
    if (name.starts_with(library)) return true;
  return false;
}

// The imports of a loaded library, from its dynamic section.
struct Imports {
  std::span<const ElfW(Rela)> calls, data;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
};

Imports imports_of(const dl_phdr_info& library) {
  Imports imports;
  const ElfW(Dyn)* entry = nullptr;
  for (unsigned i = 0; i < library.dlpi_phnum; ++i)
    if (library.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
  const ElfW(Rela)* calls = nullptr;
  const ElfW(Rela)* data = nullptr;
  std::size_t calls_bytes = 0, data_bytes = 0;
  // The loader has turned these offsets into addresses, but not on every architecture.
  const auto at = [&](ElfW(Addr) value) {
    return value < library.dlpi_addr ? value + library.dlpi_addr : value;
  };
  for (; entry && entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_JMPREL:
        calls = reinterpret_cast<const ElfW(Rela)*>(at(entry->d_un.d_ptr));
        break;
      case DT_PLTRELSZ:
        calls_bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        data = reinterpret_cast<const ElfW(Rela)*>(at(entry->d_un.d_ptr));
        break;
      case DT_RELASZ:
        data_bytes = entry->d_un.d_val;
        break;
      case DT_SYMTAB:
        imports.symbols = reinterpret_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr));
        break;
      case DT_STRTAB:
        imports.strings = reinterpret_cast<const char*>(at(entry->d_un.d_ptr));
        break;
      default:
        break;
    }
  if (calls) imports.calls = {calls, calls_bytes / sizeof(ElfW(Rela))};
  if (data) imports.data = {data, data_bytes / sizeof(ElfW(Rela))};
  return imports;
}

// The pages that the loader made read-only after relocation.
bool is_read_only(const dl_phdr_info& library, std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (unsigned i = 0; i < library.dlpi_phnum; ++i) {
    const auto& segment = library.dlpi_phdr[i];
    if (segment.p_type != PT_GNU_RELRO) continue;
    const std::uintptr_t start = library.dlpi_addr + segment.p_vaddr;
    if (address >= start / page * page && address < (start + segment.p_memsz) / page * page)
      return true;
  }
  return false;
}

// Other threads may be calling through the slot: it changes by one store.
bool store_slot(const dl_phdr_info& library, void** slot, void* function) {
  const auto address = reinterpret_cast<std::uintptr_t>(slot);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<void*>(address / page * page);
  const bool read_only = is_read_only(library, address);
  if (read_only && ::mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, function, __ATOMIC_RELEASE);
  return !read_only || ::mprotect(start, page, PROT_READ) == 0;
}

std::mutex& lock() {
  static auto& it = *new std::mutex;
  return it;
}
// The function in each changed slot before.
std::map<void**, void*>& originals() {
  static auto& it = *new std::map<void**, void*>;
  return it;
}

// Calls `visit(library, slot, replacement)` for every slot of every RDMA library that has a name of
// the shim, until it returns false. Returns false then.
template <class Visit>
bool for_each_slot(const Visit& visit) {
  const auto one_library = [](dl_phdr_info* library, std::size_t, void* argument) -> int {
    if (!library->dlpi_name || !is_rdma_library(library->dlpi_name)) return 0;
    const Imports imports = imports_of(*library);
    if (!imports.symbols || !imports.strings) return 0;
    for (const auto& relocations : {imports.calls, imports.data})
      for (const ElfW(Rela) & relocation : relocations) {
        const auto type = ELF64_R_TYPE(relocation.r_info);
        if (type != kJumpSlot && type != kGlobalData) continue;
        const ElfW(Sym)& symbol = imports.symbols[ELF64_R_SYM(relocation.r_info)];
        void* function = replacement_of(imports.strings + symbol.st_name);
        auto** slot = reinterpret_cast<void**>(library->dlpi_addr + relocation.r_offset);
        if (function && !(*static_cast<const Visit*>(argument))(*library, slot, function)) return 1;
      }
    return 0;
  };
  return ::dl_iterate_phdr(one_library, const_cast<Visit*>(&visit)) == 0;
}

// libibverbs loads its providers late: this attaches to them before libibverbs can call them.
void* softnic_dlopen(const char* path, int flags) {
  void* library = ::dlopen(path, flags);
  try {
    if (library) attach_to_rdma_libraries();
  } catch (const std::exception& error) {  // the caller is C
    print("%s\n", error.what());
  }
  return library;
}

}  // namespace

void attach_to_rdma_libraries() {
  const std::lock_guard guard(lock());
  const bool done = for_each_slot([](const dl_phdr_info& library, void** slot, void* function) {
    if (*slot == function) return true;
    originals().emplace(slot, *slot);
    return store_slot(library, slot, function);
  });
  if (!done)
    throw std::runtime_error(std::string("softnic: mprotect of an RDMA library's import table: ") +
                             std::strerror(errno));
}

void detach_from_rdma_libraries() {
  const std::lock_guard guard(lock());
  for_each_slot([](const dl_phdr_info& library, void** slot, void* function) {
    const auto original = originals().find(slot);
    return *slot != function || original == originals().end() ||
           store_slot(library, slot, original->second);
  });
  originals().clear();
}

bool is_attached_to_libibverbs() {
  const std::lock_guard guard(lock());
  bool found = false;
  for_each_slot([&](const dl_phdr_info&, void** slot, void* function) {
    found |= *slot == function && function == reinterpret_cast<void*>(&softnic_ioctl);
    return true;
  });
  return found;
}

}  // namespace softnic
