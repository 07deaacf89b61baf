// Each form of an instruction, against the PTX manual.
#include <gtest/gtest.h>

#include <cmath>

#include "form_case.hpp"
#include "run_kernel.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/translate.hpp"

namespace softgpu::tests {
namespace {

std::uint64_t mask_of(const std::string& type) {
  if (type == "pred") return 1;
  const unsigned bits = static_cast<unsigned>(std::stoul(type.substr(1)));
  return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

bool is_nan(std::uint64_t bits, const std::string& type) {
  if (type == "f32") return std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return type == "f64" && std::isnan(std::bit_cast<double>(bits));
}

bool agrees(std::uint64_t got, std::uint64_t wanted, const std::string& type) {
  return got == (wanted & mask_of(type)) || (is_nan(got, type) && is_nan(wanted, type));
}

void check(const Table& table, bool watched) {
  std::vector<std::uint64_t> rows, results;
  std::size_t count = 0;
  for (const Case& c : table) {
    const Signature types = signature_of(c);
    for (const Row& row : c.rows) {
      ASSERT_EQ(row.size(), types.operands.size() + types.results.size()) << c.text;
      rows.insert(rows.end(), row.begin(), row.begin() + static_cast<long>(types.operands.size()));
      count += types.results.size();
    }
    ASSERT_LE(c.rows.size(), 32u);
  }
  results.assign(count, 0xdeadbeef);
  rows.push_back(0);
  std::vector<std::uint64_t> scratch(64);
  Module module(ptx_of(table));
  run(*module.find("forms"), {.watched = watched}, rows.data(), results.data(), scratch.data());
  std::size_t at = 0;
  for (const Case& c : table) {
    const Signature types = signature_of(c);
    for (const Row& row : c.rows) {
      for (std::size_t i = 0; i < types.results.size(); ++i, ++at) {
        const std::uint64_t wanted = row[types.operands.size() + i];
        if (agrees(results[at], wanted, types.results[i])) continue;
        std::string operands;
        for (std::size_t o = 0; o < types.operands.size(); ++o)
          operands += testing::PrintToString(row[o]) + " ";
        ADD_FAILURE() << c.text << "\n of " << operands << "has 0x" << std::hex << results[at]
                      << " as its result " << i + 1 << " and not 0x"
                      << (wanted & mask_of(types.results[i]));
      }
    }
  }
}

struct Named {
  const char* name;
  Table (*table)();
};
class Forms : public testing::TestWithParam<Named> {};
TEST_P(Forms, HaveTheResultsOfTheManual) { check(GetParam().table(), false); }
INSTANTIATE_TEST_SUITE_P(Ptx, Forms,
                         testing::Values(Named{"Integer", integer_table}, Named{"Bits", bits_table},
                                         Named{"Float", float_table},
                                         Named{"Convert", convert_table},
                                         Named{"Logic", logic_table}, Named{"Data", data_table},
                                         Named{"Memory", memory_table},
                                         Named{"Atomics", atomics_table}),
                         [](const auto& info) { return info.param.name; });

// Where the executor makes every access: a thread sees its own stores.
class WatchedForms : public testing::TestWithParam<Named> {};
TEST_P(WatchedForms, HaveTheResultsOfTheManual) { check(GetParam().table(), true); }
INSTANTIATE_TEST_SUITE_P(Ptx, WatchedForms,
                         testing::Values(Named{"Memory", memory_table},
                                         Named{"Atomics", atomics_table}),
                         [](const auto& info) { return info.param.name; });

TEST(WordedForms, AreTheExecutorsOperationOfTheirOrderAndScope) {
  for (const Worded& form : worded_forms()) {
    const auto module = ptx::parse_module(ptx_of(form.text));
    const std::string source = ptx::translate(*module, module->functions.front()).source;
    for (const std::string& cpp : form.cpp) {
      EXPECT_NE(source.find(cpp), std::string::npos)
          << form.text << "\n wants " << cpp << "\n in " << source;
    }
  }
}

}  // namespace
}  // namespace softgpu::tests
