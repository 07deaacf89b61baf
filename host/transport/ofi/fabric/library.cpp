#include "host/transport/ofi/fabric/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "host/errors/error.hpp"
#include "host/transport/ofi/requests/message_batch.hpp"

namespace chime::host::ofi {
namespace {

constexpr char kFile[] = "libfabric.so.1";
constexpr char kAdvice[] = "(Debian: package libfabric1)";

template <class Function>
void find(void* library, const char* name, const char* version, Function& function) {
  function = reinterpret_cast<Function>(::dlvsym(library, name, version));
  if (function == nullptr)
    throw Error("fabric", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("{} has no {}@{}; install libfabric 1.17 or newer {}", kFile, name,
                            version, kAdvice));
}

// The variables that libfabric reads when it is loaded, where the user has not set them. ofi_rxm
// keeps some thousand buffers for messages at hand, of 16 KiB each. That is 50 MiB a PE which
// nobody needs: Chime's batches of messages are shorter, and longer data goes by transfers.
constexpr std::pair<const char*, const char*> kTuning[] = {{"FI_OFI_RXM_BUFFER_SIZE", "4096"}};
static_assert(kBatchBytes <= 4096, "a batch of messages fits in one buffer");

// Never closed: providers keep state of the process.
Libfabric load() {
  for (const auto& [name, value] : kTuning) ::setenv(name, value, /*overwrite=*/0);
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error("fabric", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("libfabric cannot be loaded: {} {}", ::dlerror(), kAdvice));
  Libfabric functions;
#define CHIME_FABRIC_FIND(name, version) find(library, #name, version, functions.name);
  CHIME_FABRIC_FUNCTIONS(CHIME_FABRIC_FIND)
#undef CHIME_FABRIC_FIND
  return functions;
}

}  // namespace

const Libfabric& libfabric() {
  // An initialiser that throws is run again at the next call.
  static const Libfabric the_library = load();
  return the_library;
}

std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}", FI_MAJOR(version), FI_MINOR(version));
}

std::string words_of(int error) { return libfabric().fi_strerror(error); }

void fail_fabric(const std::string& what, long error, const std::string& advice) {
  const chimex_status code = error == FI_ENOMEM ? CHIMEX_ERR_OUT_OF_MEMORY : CHIMEX_ERR_SYSTEM;
  throw Error("fabric", code,
              fmt::format("{}: {}{}{}", what, words_of(static_cast<int>(error)),
                          advice.empty() ? "" : "; ", advice));
}

}  // namespace chime::host::ofi
