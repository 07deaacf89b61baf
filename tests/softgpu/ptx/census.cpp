// census <folder>: the forms of instructions in all PTX files below a folder, with their counts.
// Fails on a form without a test in this folder, and on a kernel that cannot be translated: every
// form in Chime's kernels was checked against PTX's manual. 77: there is no PTX.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "form_case.hpp"
#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/translate.hpp"

namespace softgpu::tests {
namespace {

using Count = std::map<std::string, unsigned long>;

void count_forms(const ptx::Module& module, Count& forms) {
  for (const ptx::Function& f : module.functions) {
    if (!f.has_body) continue;
    for (const ptx::Statement& s : ptx::parse_body(module, f)) {
      if (const auto* i = std::get_if<ptx::Instruction>(&s)) ++forms[form_of(*i)];
    }
  }
}
void count_forms(const std::string& text, Count& forms) {
  count_forms(*ptx::parse_module(text), forms);
}

std::string in_a_kernel(const std::string& instructions) {
  std::string text = ".visible .entry k() {\n" + instructions + "\n}\n";
  for (char& c : text) {
    if (c == '$') c = '%';
  }
  return text;
}

// Counts the forms that a table states, not those of the code around its rows.
Count tested_forms() {
  Count forms;
  for (const auto table : {integer_table, bits_table, float_table, convert_table, logic_table,
                           data_table, memory_table, atomics_table}) {
    for (const Case& c : table()) count_forms(in_a_kernel(c.text), forms);
  }
  for (const Worded& w : worded_forms()) count_forms(in_a_kernel(w.text), forms);
  for (const Program& p : programs()) count_forms(p.text, forms);
  return forms;
}

class Census {
 public:
  void take(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    ++files_;
    try {
      const auto module = ptx::parse_module({std::istreambuf_iterator<char>(file), {}});
      count_forms(*module, forms_);
      for (const ptx::Function& f : module->functions) {
        if (f.is_entry) translate(path, *module, f);
      }
    } catch (const PtxError& error) {
      fail(path.string() + ": " + error.what());
    }
  }

  int report() {
    const Count tested = tested_forms();
    std::set<std::string> opcodes;
    unsigned long instructions = 0;
    for (const auto& [form, count] : forms_) {
      opcodes.insert(form.substr(0, form.find('.')));
      instructions += count;
      const bool is_tested = tested.contains(form);
      std::printf("%8lu %s%s\n", count, form.c_str(), is_tested ? "" : "  <- no test");
      if (!is_tested) fail(form + " is in none of the tests: add it to a table beside census.cpp");
    }
    std::printf(
        "%lu instructions of %zu forms (%zu opcodes) in %lu kernels of %lu files; %zu forms have "
        "tests\n",
        instructions, forms_.size(), opcodes.size(), kernels_, files_, tested.size());
    return failures_ ? 1 : files_ ? 0 : 77;
  }

 private:
  void translate(const std::filesystem::path& path, const ptx::Module& module,
                 const ptx::Function& kernel) {
    ++kernels_;
    try {
      ptx::translate(module, kernel);
    } catch (const PtxError& error) {
      fail(path.string() + ": " + std::string(kernel.name) + ": " + error.what());
    }
  }
  void fail(const std::string& why) {
    if (failures_++ < 40) std::fprintf(stderr, "%s\n", why.c_str());
  }

  Count forms_;
  unsigned long files_ = 0, kernels_ = 0, failures_ = 0;
};

}  // namespace
}  // namespace softgpu::tests

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  softgpu::tests::Census census;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
    if (entry.path().extension() == ".ptx") census.take(entry.path());
  }
  return census.report();
}
