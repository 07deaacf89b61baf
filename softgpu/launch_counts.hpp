// Counts the instructions that the threads of a launch executed, by their form: code that counts
// (ptx/translate.hpp, Counts) adds to these numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/kernel_code.hpp"

namespace softgpu {

class LaunchCounts {
 public:
  // REQUIRES: the kernel's code that counts was requested.
  explicit LaunchCounts(const Kernel& kernel)
      : kernel_(kernel), numbers_(kernel.forms().size() * kColumns) {}
  LaunchCounts(const LaunchCounts&) = delete;

  std::uint64_t* numbers() { return numbers_.data(); }  // for Env::counts

  // 0 also if the kernel has no such form.
  std::uint64_t of(const std::string& form, Column column) const;
  std::uint64_t instructions() const;  // also those with their predicate off

  // {"ld.const.u64": {"executed": 3, "const": 3}, ...}: without zeros.
  std::string forms_as_json() const;

 private:
  const Kernel& kernel_;
  std::vector<std::uint64_t> numbers_;
};

// The driver knows more of global addresses than the marks in device/simt/memory/memory_kind.hpp.
// Null: there is no driver.
using MemoryTeller = Column (*)(std::uint64_t address);
void set_memory_teller(MemoryTeller teller);

// The kind of memory at an address outside of a module's variables.
Column memory_at(std::uint64_t address);

}  // namespace softgpu
