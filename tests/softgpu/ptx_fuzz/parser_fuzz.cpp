// Any text is translated or refused with PtxError: a loaded module may be any text.
#include <cstddef>
#include <cstdint>
#include <string>

#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/translate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace softgpu;
  try {
    const auto module = ptx::parse_module(std::string(reinterpret_cast<const char*>(data), size));
    for (const ptx::Function& f : module->functions) {
      try {
        ptx::translate(*module, f);
      } catch (const PtxError&) {
      }
    }
  } catch (const PtxError&) {
  }
  return 0;
}
