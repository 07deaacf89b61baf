// What the threads of a launch executed, by the forms of its kernel's instructions: where code
// counts (ptx/translate.hpp, Counts) it adds to these numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/kernel_code.hpp"

namespace softgpu {

class LaunchCounts {
 public:
  // REQUIRES: the kernel's code that counts was asked for.
  explicit LaunchCounts(const Kernel& kernel)
      : kernel_(kernel), numbers_(kernel.forms().size() * kColumns) {}
  LaunchCounts(const LaunchCounts&) = delete;

  std::uint64_t* numbers() { return numbers_.data(); }  // for Env::counts

  // 0 also where the kernel has no such form.
  std::uint64_t of(const std::string& form, Column column) const;
  std::uint64_t instructions() const;  // those whose predicate was off, too

  // {"ld.const.u64": {"executed": 3, "const": 3}, ...}: what is not zero.
  std::string forms_as_json() const;

 private:
  const Kernel& kernel_;
  std::vector<std::uint64_t> numbers_;
};

// Who knows more of a global address than device/simt's marks (memory_kind.hpp) says it: the
// driver. Null: nobody does.
using MemoryTeller = Column (*)(std::uint64_t address);
void set_memory_teller(MemoryTeller teller);

// Of an address outside of a module's variables.
Column memory_at(std::uint64_t address);

}  // namespace softgpu
