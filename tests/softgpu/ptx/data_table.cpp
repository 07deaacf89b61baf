// Moves between registers, and the windows of addresses.
#include "form_case.hpp"

namespace softgpu::tests {

namespace {

std::string reg_of(const std::string& type) { return "b" + type.substr(1); }

}  // namespace

Table data_table() {
  Table table;
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"}) {
    const std::string r = reg_of(type), name = std::string("mov.") + type;
    add(table, {{name + " $d, $a;", r + " : " + r, {{s(-7), s(-7)}}},
                {name + " $d, -5;", r + " :", {{s(-5)}}}});
  }
  add(table,
      {{"mov.f32 $d, $a;", "f32 : f32", {{f(1.5f), f(1.5f)}}},
       {"mov.f64 $d, $a;", "f64 : f64", {{d(1.5), d(1.5)}}},
       {"mov.f32 $d, 0f3FC00000;", "f32 :", {{f(1.5f)}}},
       {"mov.f64 $d, 0d3FF8000000000000;", "f64 :", {{d(1.5)}}},
       {"mov.b32 $d, 0f3FC00000;", "b32 :", {{f(1.5f)}}},
       {"mov.b64 $d, 0d3FF8000000000000;", "b64 :", {{d(1.5)}}},
       {"mov.f32 $d, 1.5;", "f32 :", {{f(1.5f)}}},
       {"mov.b32 $d, 0x10;", "b32 :", {{16}}},
       {"mov.b32 $d, 010;", "b32 :", {{8}}},
       {"mov.b32 $d, 0b101;", "b32 :", {{5}}},
       {"mov.u32 $d, 4294967295U;", "b32 :", {{0xffffffff}}},
       {"mov.u64 $d, 0xffffffffffffffff;", "b64 :", {{~0ull}}},
       {"mov.pred $d, $a;", "pred : pred", {{1, 1}, {0, 0}}},
       {"mov.pred $d, -1;", "pred :", {{1}}},
       {"mov.pred $d, 0;", "pred :", {{0}}},
       // The first of a vector is lowest.
       {"mov.b64 $d, {$a, $b};", "b64 : b32 b32", {{1, 2, 0x200000001}}},
       {"mov.b64 {$d, $e}, $a;", "b32 b32 : b64", {{0x200000001, 1, 2}}},
       {"mov.b64 {$d, _}, $a;", "b32 : b64", {{0x200000001, 1}}},
       {"mov.b64 {_, $d}, $a;", "b32 : b64", {{0x200000001, 2}}},
       {"mov.b32 $d, {$a, $b};", "b32 : b16 b16", {{1, 2, 0x20001}}},
       {"mov.b32 {$d, $e}, $a;", "b16 b16 : b32", {{0x20001, 1, 2}}},
       {"mov.b64 $d, {$a, $b, $c, $x};",
        "b64 : b16 b16 b16 b16",
        {{1, 2, 3, 4, 0x0004000300020001}}},
       // Windows: only shared memory has other addresses as generic ones.
       {"cvta.to.global.u64 $d, $g; sub.u64 $d, $d, $m;", "b64 :", {{0}}},
       {"cvta.global.u64 $d, $g; sub.u64 $d, $d, $m;", "b64 :", {{0}}},
       {"cvta.shared.u64 $d, $s; sub.u64 $d, $d, $w;", "b64 :", {{0}}},
       {"cvta.to.shared.u64 $d, $w; sub.u64 $d, $d, $s;", "b64 :", {{0}}},
       {"cvta.local.u64 $d, $l; cvta.to.local.u64 $d, $d; sub.u64 $d, $d, $l;", "b64 :", {{0}}},
       {"cvta.local.u64 $d, $l; isspacep.local $e, $d; mov.u64 $d, 0;", "b64 pred :", {{0, 1}}},
       {"isspacep.shared $d, $w;", "pred :", {{1}}},
       {"isspacep.shared::cta $d, $m;", "pred :", {{0}}},
       {"isspacep.global $d, $m;", "pred :", {{1}}},
       {"isspacep.global $d, $w;", "pred :", {{0}}},
       {"isspacep.local $d, $m;", "pred :", {{0}}}});
  return table;
}

}  // namespace softgpu::tests
