// Sums, products, quotients: they wrap; 16 bits like 32 and 64.
#include "form_case.hpp"

namespace softgpu::tests {

namespace {

Table sums() {
  Table table;
  for (const char* type : {"u32", "s32"}) {
    add(table, {{std::string("add.") + type + " $d, $a, $b;",
                 "b32 : b32 b32",
                 {{2, 3, 5}, {0xffffffff, 1, 0}, {0x7fffffff, 1, 0x80000000}}},
                {std::string("sub.") + type + " $d, $a, $b;",
                 "b32 : b32 b32",
                 {{5, 3, 2}, {0, 1, 0xffffffff}, {0x80000000, 1, 0x7fffffff}}}});
  }
  for (const char* type : {"u64", "s64"}) {
    add(table, {{std::string("add.") + type + " $d, $a, $b;",
                 "b64 : b64 b64",
                 {{2, 3, 5}, {s(-1), 1, 0}, {0xffffffff, 1, 0x100000000}}},
                {std::string("sub.") + type + " $d, $a, $b;",
                 "b64 : b64 b64",
                 {{5, 3, 2}, {0, 1, s(-1)}, {0x100000000, 1, 0xffffffff}}}});
  }
  for (const char* type : {"u16", "s16"}) {
    add(table, {{std::string("add.") + type + " $d, $a, $b;",
                 "b16 : b16 b16",
                 {{2, 3, 5}, {0xffff, 1, 0}, {0x7fff, 1, 0x8000}}},
                {std::string("sub.") + type + " $d, $a, $b;",
                 "b16 : b16 b16",
                 {{5, 3, 2}, {0, 1, 0xffff}}}});
  }
  for (const char* type : {"u16x2", "s16x2"}) {
    add(table, {{std::string("add.") + type + " $d, $a, $b;",
                 "b32 : b32 b32",
                 {{0x00020001, 0x00040003, 0x00060004},
                  {0x0001ffff, 0x00010001, 0x00020000},  // nothing goes from half to half
                  {0xffff7fff, 0x00010001, 0x00008000}}}});
  }
  add(table,
      {{"add.sat.s32 $d, $a, $b;",
        "b32 : b32 b32",
        {{0x7fffffff, 1, 0x7fffffff}, {0x80000000, s(-1), 0x80000000}, {3, s(-5), s(-2)}}},
       {"sub.sat.s32 $d, $a, $b;",
        "b32 : b32 b32",
        {{0x80000000, 1, 0x80000000}, {0x7fffffff, s(-1), 0x7fffffff}}},
       // The carry goes from one instruction to the next.
       {"add.cc.u32 $d, $a, $b; addc.u32 $e, $a, $b;",
        "b32 b32 : b32 b32",
        {{0xffffffff, 1, 0, 1}, {1, 2, 3, 3}, {0x80000000, 0x80000000, 0, 1}}},
       {"add.cc.u32 $d, $a, $b; addc.cc.u32 $d, $a, $b; addc.u32 $e, 0, 0;",
        "b32 b32 : b32 b32",
        {{0xffffffff, 0xffffffff, 0xffffffff, 1}, {0xffffffff, 0, 0xffffffff, 0}}},
       {"sub.cc.u32 $d, $a, $b; subc.u32 $e, $a, $b;",
        "b32 b32 : b32 b32",
        {{0, 1, 0xffffffff, 0xfffffffe}, {5, 3, 2, 2}}},
       {"sub.cc.u32 $d, $a, $b; subc.cc.u32 $d, $a, $b; subc.u32 $e, 0, 0;",
        "b32 b32 : b32 b32",
        {{0, 1, 0xfffffffe, 0xffffffff}, {5, 5, 0, 0}}},
       {"add.cc.s32 $d, $a, $b; addc.s32 $e, $a, $b;", "b32 b32 : b32 b32", {{s(-1), 1, 0, 1}}},
       {"sub.cc.s32 $d, $a, $b; subc.s32 $e, $a, $b;", "b32 b32 : b32 b32", {{0, 1, s(-1), s(-2)}}},
       {"add.cc.u64 $d, $a, $b; addc.u64 $e, $a, $b;",
        "b64 b64 : b64 b64",
        {{s(-1), 1, 0, 1}, {1, 2, 3, 3}}},
       {"add.cc.s64 $d, $a, $b; addc.s64 $e, $a, $b;", "b64 b64 : b64 b64", {{s(-1), 1, 0, 1}}},
       {"add.cc.s64 $d, $a, $b; addc.cc.s64 $d, $a, $b; addc.s64 $e, 0, 0;",
        "b64 b64 : b64 b64",
        {{s(-1), s(-1), s(-1), 1}}},
       {"sub.cc.s64 $d, $a, $b; subc.s64 $e, $a, $b;", "b64 b64 : b64 b64", {{0, 1, s(-1), s(-2)}}},
       {"sub.cc.u64 $d, $a, $b; subc.u64 $e, $a, $b;",
        "b64 b64 : b64 b64",
        {{0, 1, s(-1), s(-2)}}}});
  return table;
}

Table products() {
  return {
      {"mul.lo.s32 $d, $a, $b;", "b32 : b32 b32", {{s(-3), 5, s(-15)}, {0x10000, 0x10000, 0}}},
      {"mul.lo.u32 $d, $a, $b;", "b32 : b32 b32", {{7, 6, 42}, {0xffffffff, 0xffffffff, 1}}},
      {"mul.lo.s64 $d, $a, $b;",
       "b64 : b64 b64",
       {{s(-3), 5, s(-15)}, {1ull << 32, 1ull << 32, 0}}},
      {"mul.lo.u64 $d, $a, $b;", "b64 : b64 b64", {{7, 6, 42}, {s(-1), s(-1), 1}}},
      {"mul.lo.s16 $d, $a, $b;", "b16 : b16 b16", {{s(-3), 5, s(-15)}, {0xffff, 0xffff, 1}}},
      {"mul.lo.u16 $d, $a, $b;",
       "b16 : b16 b16",
       {{0xffff, 0xffff, 1}, {300, 300, 90000 & 0xffff}}},
      {"mul.hi.s32 $d, $a, $b;",
       "b32 : b32 b32",
       {{s(-1), 1, s(-1)}, {0x40000000, 8, 2}, {0x80000000, 0x80000000, 0x40000000}}},
      {"mul.hi.u32 $d, $a, $b;",
       "b32 : b32 b32",
       {{0xffffffff, 0xffffffff, 0xfffffffe}, {5, 7, 0}}},
      {"mul.hi.s64 $d, $a, $b;", "b64 : b64 b64", {{s(-1), 1, s(-1)}, {1ull << 62, 8, 2}}},
      {"mul.hi.u64 $d, $a, $b;", "b64 : b64 b64", {{s(-1), s(-1), s(-2)}, {5, 7, 0}}},
      {"mul.hi.s16 $d, $a, $b;", "b16 : b16 b16", {{s(-1), 1, 0xffff}, {0x4000, 8, 2}}},
      {"mul.hi.u16 $d, $a, $b;", "b16 : b16 b16", {{0xffff, 0xffff, 0xfffe}}},
      {"mul.wide.s32 $d, $a, $b;",
       "b64 : b32 b32",
       {{s(-2), 3, s(-6)}, {0x80000000, 0x80000000, 1ull << 62}}},
      {"mul.wide.u32 $d, $a, $b;",
       "b64 : b32 b32",
       {{0xffffffff, 0xffffffff, 0xfffffffe00000001}, {0xffffffff, 2, 0x1fffffffe}}},
      {"mul.wide.s16 $d, $a, $b;", "b32 : b16 b16", {{s(-2), 3, s(-6)}}},
      {"mul.wide.u16 $d, $a, $b;", "b32 : b16 b16", {{0xffff, 0xffff, 0xfffe0001}}},
      {"mul24.lo.u32 $d, $a, $b;", "b32 : b32 b32", {{0xff000003, 0x01000005, 15}}},
      {"mul24.lo.s32 $d, $a, $b;", "b32 : b32 b32", {{0x00ffffff, 5, s(-5)}}},
      {"mul24.hi.u32 $d, $a, $b;", "b32 : b32 b32", {{0xffffff, 0xffffff, 0xfffffe00}}},
      {"mul24.hi.s32 $d, $a, $b;", "b32 : b32 b32", {{0xffffff, 0x10000, 0xffffffff}}},
      {"mad24.lo.u32 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{0xff000003, 5, 7, 22}}},
      {"mad24.lo.s32 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{0xffffff, 5, 7, 2}}},
      {"mad.lo.s32 $d, $a, $b, $c;",
       "b32 : b32 b32 b32",
       {{s(-3), 5, 20, 5}, {0x10000, 0x10000, 9, 9}}},
      {"mad.lo.u32 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{3, 5, 0xffffffff, 14}}},
      {"mad.lo.s64 $d, $a, $b, $c;", "b64 : b64 b64 b64", {{s(-3), 5, 20, 5}}},
      {"mad.lo.u64 $d, $a, $b, $c;", "b64 : b64 b64 b64", {{3, 5, s(-1), 14}}},
      {"mad.lo.s16 $d, $a, $b, $c;", "b16 : b16 b16 b16", {{s(-3), 5, 20, 5}}},
      {"mad.lo.u16 $d, $a, $b, $c;", "b16 : b16 b16 b16", {{0xffff, 0xffff, 0xffff, 0}}},
      {"mad.hi.s32 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{s(-1), 1, 5, 4}}},
      {"mad.hi.u32 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{0xffffffff, 0xffffffff, 3, 1}}},
      {"mad.hi.u64 $d, $a, $b, $c;", "b64 : b64 b64 b64", {{s(-1), s(-1), 3, 1}}},
      {"mad.wide.s32 $d, $a, $b, $c;", "b64 : b32 b32 b64", {{s(-2), 3, 10, 4}}},
      {"mad.wide.u32 $d, $a, $b, $c;",
       "b64 : b32 b32 b64",
       {{0xffffffff, 2, 2, 0x200000000}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff00000000}}},
      {"mad.wide.u16 $d, $a, $b, $c;", "b32 : b16 b16 b32", {{0xffff, 0xffff, 0xffff, 0xffff0000}}},
      {"mad.wide.s16 $d, $a, $b, $c;", "b32 : b16 b16 b32", {{s(-2), 3, 10, 4}}},
  };
}

// Division truncates; the remainder has the dividend's sign. PTX leaves division by zero undefined.
Table quotients() {
  return {
      {"div.s32 $d, $a, $b;",
       "b32 : b32 b32",
       {{7, 2, 3},
        {s(-7), 2, s(-3)},
        {7, s(-2), s(-3)},
        {s(-7), s(-2), 3},
        {0x80000000, s(-1), 0x80000000}}},
      {"div.u32 $d, $a, $b;", "b32 : b32 b32", {{7, 2, 3}, {0xffffffff, 2, 0x7fffffff}}},
      {"div.s64 $d, $a, $b;", "b64 : b64 b64", {{s(-7), 2, s(-3)}, {kMinus64, s(-1), kMinus64}}},
      {"div.u64 $d, $a, $b;", "b64 : b64 b64", {{s(-1), 2, ~0ull >> 1}}},
      {"div.s16 $d, $a, $b;", "b16 : b16 b16", {{s(-7), 2, s(-3)}, {0x8000, s(-1), 0x8000}}},
      {"div.u16 $d, $a, $b;", "b16 : b16 b16", {{0xffff, 2, 0x7fff}}},
      {"rem.s32 $d, $a, $b;",
       "b32 : b32 b32",
       {{7, 2, 1},
        {s(-7), 2, s(-1)},
        {7, s(-2), 1},
        {s(-7), s(-2), s(-1)},
        {0x80000000, s(-1), 0}}},
      {"rem.u32 $d, $a, $b;", "b32 : b32 b32", {{7, 2, 1}, {0xffffffff, 10, 5}}},
      {"rem.s64 $d, $a, $b;", "b64 : b64 b64", {{s(-7), 2, s(-1)}, {kMinus64, s(-1), 0}}},
      {"rem.u64 $d, $a, $b;", "b64 : b64 b64", {{s(-1), 10, 5}}},
      {"rem.s16 $d, $a, $b;", "b16 : b16 b16", {{s(-7), 2, s(-1)}}},
      {"rem.u16 $d, $a, $b;", "b16 : b16 b16", {{0xffff, 10, 5}}},
  };
}

Table others() {
  return {
      {"neg.s32 $d, $a;", "b32 : b32", {{5, s(-5)}, {0x80000000, 0x80000000}}},
      {"neg.s64 $d, $a;", "b64 : b64", {{5, s(-5)}, {kMinus64, kMinus64}}},
      {"neg.s16 $d, $a;", "b16 : b16", {{5, s(-5)}}},
      {"abs.s32 $d, $a;", "b32 : b32", {{5, 5}, {s(-5), 5}, {0x80000000, 0x80000000}}},
      {"abs.s64 $d, $a;", "b64 : b64", {{s(-5), 5}, {kMinus64, kMinus64}}},
      {"abs.s16 $d, $a;", "b16 : b16", {{s(-5), 5}}},
      {"min.s16x2 $d, $a, $b;", "b32 : b32 b32", {{0x0001ffff, 0xffff0001, 0xffffffff}}},
      {"min.u16x2 $d, $a, $b;", "b32 : b32 b32", {{0x0001ffff, 0xffff0001, 0x00010001}}},
      {"max.s16x2 $d, $a, $b;", "b32 : b32 b32", {{0x0001ffff, 0xffff0001, 0x00010001}}},
      {"max.u16x2 $d, $a, $b;", "b32 : b32 b32", {{0x0001ffff, 0xffff0001, 0xffffffff}}},
      {"min.s32 $d, $a, $b;", "b32 : b32 b32", {{s(-1), 1, s(-1)}, {3, 2, 2}}},
      {"min.u32 $d, $a, $b;", "b32 : b32 b32", {{0xffffffff, 1, 1}, {2, 3, 2}}},
      {"min.s64 $d, $a, $b;", "b64 : b64 b64", {{s(-1), 1, s(-1)}}},
      {"min.u64 $d, $a, $b;", "b64 : b64 b64", {{s(-1), 1, 1}}},
      {"min.s16 $d, $a, $b;", "b16 : b16 b16", {{s(-1), 1, s(-1)}}},
      {"min.u16 $d, $a, $b;", "b16 : b16 b16", {{0xffff, 1, 1}}},
      {"max.s32 $d, $a, $b;", "b32 : b32 b32", {{s(-1), 1, 1}, {3, 2, 3}}},
      {"max.u32 $d, $a, $b;", "b32 : b32 b32", {{0xffffffff, 1, 0xffffffff}}},
      {"max.s64 $d, $a, $b;", "b64 : b64 b64", {{s(-1), 1, 1}}},
      {"max.u64 $d, $a, $b;", "b64 : b64 b64", {{s(-1), 1, s(-1)}}},
      {"max.s16 $d, $a, $b;", "b16 : b16 b16", {{s(-1), 1, 1}}},
      {"max.u16 $d, $a, $b;", "b16 : b16 b16", {{0xffff, 1, 0xffff}}},
      {"sad.u32 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{3, 10, 100, 107}, {10, 3, 100, 107}}},
      {"sad.s32 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{s(-3), 4, 1, 8}}},
  };
}

}  // namespace

Table integer_table() {
  Table table = sums();
  for (const Table& more : {products(), quotients(), others()}) add(table, more);
  return table;
}

}  // namespace softgpu::tests
