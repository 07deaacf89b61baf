// Loads and stores: extension, the width of a store, vectors, and each address space.
//
// worded_forms.cpp and the litmus tests have the memory order of a form.
#include "form_case.hpp"

namespace softgpu::tests {

namespace {

struct Space {
  const char *word, *address, *before = "";
};
constexpr Space kSpaces[] = {
    {"", "$m"},
    {".global", "$g"},
    {".shared", "$s"},
    {".local", "$l"},
    {".shared::cta", "$s"},
    {"", "$w"},
    {".param", "box",
     ".param .align 16 .b8 box[16]; st.param.b64 [box], 0xa5a5a5a5a5a5a5a5; "
     "st.param.b64 [box+8], 0xa5a5a5a5a5a5a5a5; "}};
constexpr const char* kTypes[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16", "f32",
                                  "b32", "u32", "s32", "b64", "u64", "s64", "f64"};

unsigned bits_of(const std::string& type) {
  return static_cast<unsigned>(std::stoul(type.substr(1)));
}
std::uint64_t ones(unsigned bits) { return bits == 64 ? ~0ull : (1ull << bits) - 1; }

// A register as wide as it gets for integers, so that extension shows.
std::string result_of(const std::string& type) {
  return type[0] == 'f' ? "b" + type.substr(1) : "b64";
}
std::uint64_t extended(std::uint64_t value, const std::string& type) {
  const unsigned above = 64 - bits_of(type);
  if (type[0] == 's') return s(static_cast<std::int64_t>(value << above) >> above);
  return value << above >> above;
}

void scalars(Table& table, const Space& space) {
  constexpr std::uint64_t kValue = 0xfedcba9896f4d2f1;
  for (const std::string type : kTypes) {
    const std::string where = std::string("[") + space.address + "]",
                      at_2 = std::string("[") + space.address + "+8]";
    // Loaded: the value in memory, extended.
    table.push_back({std::string("st") + space.word + ".b64 " + at_2 + ", $a; ld" + space.word +
                         "." + type + " $d, " + at_2 + ";",
                     result_of(type) + " : b64",
                     {{kValue, extended(kValue, type)}}});
    // Stored: no byte beyond the width.
    const std::uint64_t mask = ones(bits_of(type));
    table.push_back({std::string("st") + space.word + "." + type + " " + where + ", $a; ld" +
                         space.word + ".b64 $d, " + where + ";",
                     "b64 : " + std::string(type[0] == 'f' ? "b" + type.substr(1) : "b64"),
                     {{kValue, (kFill & ~mask) | (kValue & mask)}}});
  }
}

void vectors(Table& table, const Space& space) {
  const std::string st = std::string("st") + space.word, ld = std::string("ld") + space.word;
  const std::string at = std::string("[") + space.address + "]";
  for (const char* type : {"b8", "u8", "b16", "u16"}) {
    const unsigned bits = bits_of(type);
    const std::uint64_t four = 1 | 2ull << bits | 3ull << 2 * bits | 4ull << 3 * bits;
    const std::uint64_t two = 1 | 2ull << bits;
    const std::string t = type;
    add(table, {{st + ".v4." + t + " " + at + ", {$a, $b, $c, $x}; " + ld + ".b64 $d, " + at + ";",
                 "b64 : b16 b16 b16 b16",
                 {{1, 2, 3, 4, (kFill & ~ones(4 * bits)) | four}}},
                {st + ".v2." + t + " " + at + ", {$a, $b}; " + ld + ".b64 $d, " + at + ";",
                 "b64 : b16 b16",
                 {{1, 2, (kFill & ~ones(2 * bits)) | two}}},
                {st + ".b64 " + at + ", $a; " + ld + ".v2." + t + " {$d, $e}, " + at + ";",
                 "b16 b16 : b64",
                 {{two, 1, 2}}},
                {st + ".b64 " + at + ", $a; " + ld + ".v4." + t + " {_, _, $d, $e}, " + at + ";",
                 "b16 b16 : b64",
                 {{four, 3, 4}}}});
  }
  for (const char* type : {"b32", "u32", "s32", "f32"}) {
    const std::string t = type;
    add(table, {{st + ".v2." + t + " " + at + ", {$a, $b}; " + ld + ".b64 $d, " + at + ";",
                 "b64 : b32 b32",
                 {{1, 2, 0x200000001}}},
                {st + ".v4." + t + " " + at + ", {$a, $b, $c, $x}; " + ld + ".b64 $d, [" +
                     space.address + "+8];",
                 "b64 : b32 b32 b32 b32",
                 {{1, 2, 3, 4, 0x400000003}}},
                {st + ".b64 " + at + ", $a; " + ld + ".v2." + t + " {$d, $e}, " + at + ";",
                 "b32 b32 : b64",
                 {{0x200000001, 1, 2}}},
                {st + ".b64 [" + space.address + "+8], $a; " + ld + ".v4." + t +
                     " {_, _, $d, $e}, " + at + ";",
                 "b32 b32 : b64",
                 {{0x200000001, 1, 2}}}});
  }
  for (const char* type : {"b64", "u64", "s64", "f64"}) {
    const std::string t = type;
    add(table,
        {{st + ".v2." + t + " " + at + ", {$a, $b}; " + ld + ".v2." + t + " {$d, $e}, " + at + ";",
          "b64 b64 : b64 b64",
          {{1, 2, 1, 2}}}});
  }
  // A register of the address is one of the results.
  add(table, {{"mov.b64 $d, " + std::string(space.address) + "; " + st +
                   ".v2.u64 [$d], {$a, $b}; " + ld + ".v2.u64 {$d, $e}, [$d];",
               "b64 b64 : b64 b64",
               {{1, 2, 1, 2}}}});
}

}  // namespace

Table memory_table() {
  Table table;
  for (const Space& space : kSpaces) {
    Table of_space;
    scalars(of_space, space);
    vectors(of_space, space);
    for (Case& c : of_space) c.text = space.before + c.text;
    add(table, of_space);
  }
  for (const char* how : {"ld.global.nc", "ld.volatile.global", "ld.relaxed.sys.global",
                          "ld.acquire.gpu.global", "ld.weak.global", "ld.global.ca",
                          "ld.global.L1::evict_last", "ld.mmio.relaxed.sys.global"}) {
    table.push_back({std::string("st.global.b64 [$g], $a; ") + how + ".u32 $d, [$g];",
                     "b64 : b64",
                     {{s(-7), 0xfffffff9}}});
    table.push_back({std::string("st.global.b64 [$g], $a; ") + how + ".u64 $d, [$g];",
                     "b64 : b64",
                     {{s(-7), s(-7)}}});
  }
  table.push_back(
      {"st.global.b64 [$g], $a; ld.global.nc.u8 $d, [$g];", "b64 : b64", {{s(-7), 0xf9}}});
  for (const char* how : {"st.volatile.global", "st.relaxed.cta.global", "st.release.sys.global",
                          "st.weak.global", "st.mmio.relaxed.sys.global", "st.global.cg"}) {
    table.push_back({std::string(how) + ".u32 [$g], $a; ld.global.b64 $d, [$g];",
                     "b64 : b32",
                     {{7, (kFill & ~0xffffffffull) | 7}}});
  }
  add(table, {{"st.global.b64 [$g], $a; add.u64 $d, $g, 8; ld.global.u64 $d, [$d+-8];",
               "b64 : b64",
               {{5, 5}}},
              {"st.global.b64 [$g+8], $a; sub.u64 $d, $g, 8; ld.global.u64 $d, [$d+0x10];",
               "b64 : b64",
               {{5, 5}}},
              {"st.global.b64 [$g], $a; add.u64 $d, $g, 8; ld.global.u64 $d, [$d-8];",
               "b64 : b64",
               {{5, 5}}}});
  table.push_back({"prefetch.global.L2 [$g]; ld.global.b64 $d, [$g];", "b64 :", {{kFill}}});
  return table;
}

}  // namespace softgpu::tests
