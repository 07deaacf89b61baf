// Modules and their kernels: machine code of this CPU from PTX text.
//
// A kernel is translated to C++ and compiled at the first call of Kernel::code, once for all
// processes: the code is kept in a folder of the user (CHIME_SOFTGPU_CACHE).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/ptx/error.hpp"
#include "softgpu/vocabulary/env.hpp"

namespace softgpu {

namespace ptx {
struct Function;
struct Module;
struct Variable;
}  // namespace ptx

class Module;

struct KernelParameter {
  std::size_t offset, bytes, align;
};

// The data that all threads of one launch share.
struct LaunchData {
  const std::uint8_t* parameters = nullptr;  // param_bytes() of them
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint64_t grid_workspace = 0;  // a cooperative launch's {bytes, barrier word}
  std::uint64_t* counts = nullptr;   // code that counts: kColumns for each of Kernel::forms()
};

// `watched`: the launch has a seed or weak memory, so the executor makes every access. `counting`:
// code that counts the instructions that it executes.
struct CodeKind {
  bool watched = false, counting = false;
};

class Kernel {
 public:
  using Code = void (*)(Env&);

  Kernel(const Module& module, const ptx::Function& function);
  Kernel(const Kernel&) = delete;
  ~Kernel();

  const std::string& name() const { return name_; }
  const Module& module() const { return module_; }
  const std::vector<KernelParameter>& parameters() const { return parameters_; }
  std::size_t param_bytes() const { return param_bytes_; }
  unsigned max_threads() const { return max_threads_; }  // of a block

  // Bytes of shared variables. A launch needs these and its dynamic ones. May translate. Throws
  // PtxError.
  std::size_t static_shared();

  // The function that each thread of a launch calls. Translates and compiles at the first call.
  // Throws PtxError with the instruction and its line, or with the compiler's output. Kernels with
  // equal effect share their code.
  Code code(CodeKind kind);

  // The counted forms, by their numbers. REQUIRES: code that counts was requested.
  const std::vector<std::string>& forms() const { return translated_[1].forms; }

  // An instruction with a checked address, by the name of its function in the code, and its number
  // there: "PTX line 12: ld.u32 ...". REQUIRES: such code was requested.
  std::string line_of_site(bool counting, std::string_view function, unsigned site) const;

  // For the calling CUDA thread. Its block was launched with static_shared() + dynamic bytes.
  // REQUIRES: static_shared() was called.
  Env env(const LaunchData& launch) const;

 private:
  struct Translated {
    bool is_done = false;
    std::vector<std::string> functions;
    std::string source;
    std::vector<std::uint8_t*> variables;  // for Env::variables
    std::vector<std::string> forms;
    std::map<std::string, std::vector<unsigned>> sites;
    Code code[2] = {};  // plain, watched
  };
  Translated& translated(bool counting);  // REQUIRES: mutex_

  const Module& module_;
  const ptx::Function& function_;
  const std::string name_;
  std::vector<KernelParameter> parameters_;
  std::size_t param_bytes_ = 0;
  unsigned max_threads_ = 0;
  std::mutex mutex_;
  Translated translated_[2];  // plain, counting
  std::size_t static_shared_ = 0;
};

class Module {
 public:
  // Reads the declarations, and gives variables memory and their first values. Throws PtxError.
  // Kernels are read when their code is requested.
  explicit Module(std::string text);
  Module(const Module&) = delete;
  ~Module();

  Kernel* find(std::string_view name) const;  // null: there is none
  std::vector<Kernel*> kernels() const;

  // The address of a variable of global or const memory; null: there is none.
  void* variable(std::string_view name, std::size_t* bytes = nullptr) const;

  std::uint8_t* address(const ptx::Variable& variable) const;  // one of text().variables
  // The kind of the variable at an address: kConst or kDevice; kOther: there is none.
  Column variable_at(std::uint64_t address) const;

  const ptx::Module& text() const { return *text_; }

 private:
  void place_variables();

  std::unique_ptr<const ptx::Module> text_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::uint8_t*> variables_;
  struct Free {
    void operator()(std::uint8_t* memory) const;
  };
  std::vector<std::unique_ptr<std::uint8_t, Free>> memory_;
};

}  // namespace softgpu
