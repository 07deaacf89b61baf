// Shifts beyond the width, bit fields, permutations.
#include "form_case.hpp"

namespace softgpu::tests {

namespace {

Table shifts() {
  return {
      {"shl.b32 $d, $a, $b;",
       "b32 : b32 b32",
       {{1, 4, 16}, {1, 31, 0x80000000}, {0xffffffff, 32, 0}, {1, 0xffffffff, 0}}},
      {"shl.b64 $d, $a, $b;",
       "b64 : b64 b32",
       {{1, 63, kMinus64}, {s(-1), 64, 0}, {3, 32, 3ull << 32}}},
      {"shl.b16 $d, $a, $b;", "b16 : b16 b32", {{1, 15, 0x8000}, {0xffff, 16, 0}, {0xffff, 17, 0}}},
      {"shr.u32 $d, $a, $b;",
       "b32 : b32 b32",
       {{0x80000000, 31, 1}, {0xffffffff, 32, 0}, {0xffffffff, 99, 0}}},
      {"shr.b32 $d, $a, $b;", "b32 : b32 b32", {{0x80000000, 4, 0x08000000}, {0xffffffff, 32, 0}}},
      {"shr.s32 $d, $a, $b;",
       "b32 : b32 b32",
       {{0x80000000, 31, 0xffffffff},
        {0x80000000, 32, 0xffffffff},
        {0x7fffffff, 99, 0},
        {s(-8), 1, s(-4)}}},
      {"shr.u64 $d, $a, $b;", "b64 : b64 b32", {{kMinus64, 63, 1}, {s(-1), 64, 0}}},
      {"shr.b64 $d, $a, $b;", "b64 : b64 b32", {{kMinus64, 63, 1}, {s(-1), 64, 0}}},
      {"shr.s64 $d, $a, $b;",
       "b64 : b64 b32",
       {{kMinus64, 63, s(-1)}, {kMinus64, 70, s(-1)}, {5, 64, 0}}},
      {"shr.u16 $d, $a, $b;", "b16 : b16 b32", {{0x8000, 15, 1}, {0xffff, 16, 0}}},
      {"shr.b16 $d, $a, $b;", "b16 : b16 b32", {{0x8000, 15, 1}}},
      {"shr.s16 $d, $a, $b;", "b16 : b16 b32", {{0x8000, 15, 0xffff}, {0x8000, 16, 0xffff}}},
      {"shf.l.wrap.b32 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{0x80000000, 1, 1, 3}, {0x12345678, 0x9abcdef0, 32, 0x9abcdef0}}},
      {"shf.l.clamp.b32 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{0x80000000, 1, 1, 3}, {0x12345678, 0x9abcdef0, 32, 0x12345678}, {5, 6, 77, 5}}},
      {"shf.r.wrap.b32 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{2, 1, 1, 0x80000001}, {0x12345678, 0x9abcdef0, 32, 0x12345678}}},
      {"shf.r.clamp.b32 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{2, 1, 1, 0x80000001}, {0x12345678, 0x9abcdef0, 32, 0x9abcdef0}, {5, 6, 77, 6}}},
  };
}

Table fields() {
  return {
      {"bfe.u32 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{0xabcd1234, 8, 8, 0x12},
        {0xffffffff, 28, 8, 0xf},
        {0xffffffff, 32, 8, 0},
        {0xffffffff, 0, 32, 0xffffffff},
        {0xffffffff, 4, 0, 0},
        {0xffffffff, 0x104, 0x104, 0xf}}},
      {"bfe.s32 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{0x00000f00, 8, 4, 0xffffffff},
        {0x00000700, 8, 4, 7},
        {0x80000000, 28, 8, 0xfffffff8},
        {0x80000000, 40, 4, 0xffffffff},
        {0xffffffff, 3, 0, 0},
        {0x70000000, 28, 8, 7}}},
      {"bfe.u64 $d, $a, $b, $c;",
       "b64 : b64 b32 b32",
       {{0xff00000000, 32, 8, 0xff}, {s(-1), 60, 8, 15}}},
      {"bfe.s64 $d, $a, $b, $c;",
       "b64 : b64 b32 b32",
       {{0xf00000000, 32, 4, s(-1)}, {kMinus64, 60, 8, s(-8)}}},
      {"bfi.b32 $d, $a, $b, $c, $x;",
       "b32 : b32 b32 b32 b32",
       {{0xff, 0, 8, 4, 0xf00},
        {0, 0xffffffff, 8, 8, 0xffff00ff},
        {0xff, 0, 28, 8, 0xf0000000},
        {0xff, 0x55, 32, 8, 0x55},
        {0xff, 0x55, 4, 0, 0x55},
        {0x12345678, 0, 0, 32, 0x12345678}}},
      {"bfi.b64 $d, $a, $b, $c, $x;", "b64 : b64 b64 b32 b32", {{0xff, 0, 40, 4, 0xfull << 40}}},
      {"bfind.u32 $d, $a;",
       "b32 : b32",
       {{1, 0}, {0x80000000, 31}, {0, 0xffffffff}, {0x00010fff, 16}}},
      {"bfind.s32 $d, $a;",
       "b32 : b32",
       {{s(-1), 0xffffffff}, {s(-2), 0}, {0x7fffffff, 30}, {0, 0xffffffff}}},
      {"bfind.u64 $d, $a;", "b32 : b64", {{1ull << 40, 40}, {0, 0xffffffff}}},
      {"bfind.s64 $d, $a;", "b32 : b64", {{s(-1), 0xffffffff}, {kMinus64, 62}}},
      {"bfind.shiftamt.u32 $d, $a;", "b32 : b32", {{1, 31}, {0x80000000, 0}, {0, 0xffffffff}}},
      {"bfind.shiftamt.u64 $d, $a;", "b32 : b64", {{1, 63}}},
      {"brev.b32 $d, $a;", "b32 : b32", {{1, 0x80000000}, {0x0000000f, 0xf0000000}}},
      {"brev.b64 $d, $a;", "b64 : b64", {{1, kMinus64}}},
      {"popc.b32 $d, $a;", "b32 : b32", {{0, 0}, {0xffffffff, 32}, {0x80000001, 2}}},
      {"popc.b64 $d, $a;", "b32 : b64", {{s(-1), 64}, {1ull << 40, 1}}},
      {"clz.b32 $d, $a;", "b32 : b32", {{0, 32}, {1, 31}, {0x80000000, 0}}},
      {"clz.b64 $d, $a;", "b32 : b64", {{0, 64}, {1, 63}}},
  };
}

Table permutations() {
  constexpr std::uint64_t kA = 0x33221100, kB = 0x77665544;
  return {
      {"prmt.b32 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{kA, kB, 0x3210, kA},
        {kA, kB, 0x7654, kB},
        {kA, kB, 0x0426, 0x00442266},
        // With its highest bit a selector replicates the byte's sign.
        {0x80, 0x7f, 0x888c, 0xffffff00},
        {0x80ff0000, 0, 0xba98, 0xffff0000}}},
      {"prmt.b32.f4e $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{kA, kB, 0, 0x33221100},
        {kA, kB, 1, 0x44332211},
        {kA, kB, 3, 0x66554433},
        {kA, kB, 6, 0x55443322}}},
      {"prmt.b32.b4e $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{kA, kB, 0, 0x55667700},
        {kA, kB, 1, 0x66770011},
        {kA, kB, 2, 0x77001122},
        {kA, kB, 3, 0x00112233}}},
      {"prmt.b32.rc8 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{kA, kB, 2, 0x22222222}}},
      {"prmt.b32.ecl $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{kA, kB, 0, 0x33221100}, {kA, kB, 1, 0x33221111}, {kA, kB, 2, 0x33222222}}},
      {"prmt.b32.ecr $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{kA, kB, 0, 0}, {kA, kB, 1, 0x11111100}, {kA, kB, 2, 0x22221100}}},
      {"prmt.b32.rc16 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{kA, kB, 0, 0x11001100}, {kA, kB, 1, 0x33223322}, {kA, kB, 2, 0x11001100}}},
      {"lop3.b32 $d, $a, $b, $c, 0xe8;",  // the majority
       "b32 : b32 b32 b32",
       {{0xf0f0, 0xff00, 0xcccc, 0xfcc0}}},
      {"lop3.b32 $d, $a, $b, $c, 0x96;",  // the parity
       "b32 : b32 b32 b32",
       {{0xf0, 0xcc, 0xaa, 0x96}}},
      {"lop3.b32 $d, $a, $b, $c, 0x01;", "b32 : b32 b32 b32", {{0xf0, 0xcc, 0xaa, 0xffffff01}}},
  };
}

}  // namespace

Table bits_table() {
  Table table = shifts();
  add(table, fields());
  add(table, permutations());
  return table;
}

}  // namespace softgpu::tests
