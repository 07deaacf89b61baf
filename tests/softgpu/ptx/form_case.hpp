// The PTX manual's rules for each form of an instruction, as rows of operands and results.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace softgpu::tests {

using Row = std::vector<std::uint64_t>;

// `text`: instructions. Registers are $a, $b, $c, $x, $y for operands, $d and $e for results.
// Memory of the thread's own, 16 bytes of kFill: its address is $g (global), $m (the same as a
// generic address), $s (shared), $w (the same as a generic address) and $l (local).
//
// `types`: those of the results, a colon, those of the operands: "b32 pred : b32 b32". A result
// that is f32 or f64 may be any NaN where the row says NaN. Rows have the operands, then the
// results.
struct Case {
  std::string text, types;
  std::vector<Row> rows;
};
using Table = std::vector<Case>;

inline constexpr std::uint64_t kFill = 0xa5a5a5a5a5a5a5a5;

inline std::uint64_t f(float v) { return std::bit_cast<std::uint32_t>(v); }
inline std::uint64_t d(double v) { return std::bit_cast<std::uint64_t>(v); }
inline std::uint64_t s(std::int64_t v) { return static_cast<std::uint64_t>(v); }

inline constexpr std::uint64_t kNan = 0x7fc00001, kNan64 = 0x7ff8000000000001;
inline constexpr std::uint64_t kInf = 0x7f800000, kInf64 = 0x7ff0000000000000;
inline constexpr std::uint64_t kMinus = 0x80000000, kMinus64 = 0x8000000000000000;  // sign bits

inline void add(Table& table, Table more) { table.insert(table.end(), more.begin(), more.end()); }

Table integer_table();
Table bits_table();
Table float_table();
Table convert_table();
Table logic_table();
Table data_table();
Table memory_table();
Table atomics_table();

// An instruction, and the text that its translation must contain.
struct Worded {
  std::string text;
  std::vector<std::string> cpp;
};
std::vector<Worded> worded_forms();

// Whole programs (programs.cpp).
struct Program {
  const char *name, *text;
};
const std::vector<Program>& programs();
std::string program(const std::string& name);

// A module with the kernel `forms`, which computes every row of a table.
std::string ptx_of(const Table& table);
// A module with a kernel of this instruction, with the registers of worded_forms().
std::string ptx_of(const std::string& instruction);

// Types of a case's results and operands.
struct Signature {
  std::vector<std::string> results, operands;
};
Signature signature_of(const Case& c);

}  // namespace softgpu::tests
