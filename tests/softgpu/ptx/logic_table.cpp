// Bits, predicates, comparisons, choices.
#include "form_case.hpp"

namespace softgpu::tests {

namespace {

std::string reg_of(const std::string& type) { return "b" + type.substr(1); }

Table bitwise() {
  Table table;
  for (const char* type : {"b16", "b32", "b64"}) {
    const std::string t = type, registers = t + " : " + t + " " + t;
    add(table, {{"and." + t + " $d, $a, $b;", registers, {{0xff0f, 0x0ff1, 0x0f01}}},
                {"or." + t + " $d, $a, $b;", registers, {{0xf000, 0x000f, 0xf00f}}},
                {"xor." + t + " $d, $a, $b;", registers, {{0xffff, 0x0ff0, 0xf00f}}},
                {"not." + t + " $d, $a;", t + " : " + t, {{0xf0, s(~0xf0ll)}}},
                {"cnot." + t + " $d, $a;", t + " : " + t, {{0, 1}, {7, 0}}}});
  }
  const std::vector<Row> kAnd{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 1}};
  const std::vector<Row> kOr{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}};
  const std::vector<Row> kXor{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
  add(table, {{"and.pred $d, $a, $b;", "pred : pred pred", kAnd},
              {"or.pred $d, $a, $b;", "pred : pred pred", kOr},
              {"xor.pred $d, $a, $b;", "pred : pred pred", kXor},
              {"not.pred $d, $a;", "pred : pred", {{0, 1}, {1, 0}}},
              {"and.pred $d, !$a, $b;", "pred : pred pred", {{0, 1, 1}, {1, 1, 0}}},
              // A guard, and its negation.
              {"mov.b32 $d, 1; @$a mov.b32 $d, 2; @!$b add.u32 $d, $d, 10;",
               "b32 : pred pred",
               {{0, 0, 11}, {0, 1, 1}, {1, 0, 12}, {1, 1, 2}}}});
  return table;
}

struct Comparison {
  const char* name;
  bool less, equal, greater;
};
constexpr Comparison kComparisons[] = {{"eq", false, true, false}, {"ne", true, false, true},
                                       {"lt", true, false, false}, {"le", true, true, false},
                                       {"gt", false, false, true}, {"ge", false, true, true}};

Table integer_comparisons() {
  Table table;
  for (const Comparison& c : kComparisons) {
    const std::string name = std::string("setp.") + c.name + ".";
    for (const char* type : {"s16", "s32", "s64"}) {
      table.push_back({name + type + " $d, $a, $b;",
                       "pred : " + reg_of(type) + " " + reg_of(type),
                       {{s(-1), 1, c.less}, {5, 5, c.equal}, {1, s(-1), c.greater}}});
    }
    for (const char* type : {"u16", "u32", "u64"}) {
      table.push_back({name + type + " $d, $a, $b;",
                       "pred : " + reg_of(type) + " " + reg_of(type),
                       {{1, s(-1), c.less}, {5, 5, c.equal}, {s(-1), 1, c.greater}}});
    }
  }
  for (const char* type : {"b16", "b32", "b64"}) {
    const std::string t = type, registers = "pred : " + t + " " + t;
    add(table, {{"setp.eq." + t + " $d, $a, $b;", registers, {{5, 5, 1}, {5, 6, 0}}},
                {"setp.ne." + t + " $d, $a, $b;", registers, {{5, 5, 0}, {5, 6, 1}}}});
  }
  add(table,
      {{"setp.lo.u32 $d, $a, $b;", "pred : b32 b32", {{1, s(-1), 1}, {5, 5, 0}}},
       {"setp.ls.u32 $d, $a, $b;", "pred : b32 b32", {{5, 5, 1}, {6, 5, 0}}},
       {"setp.hi.u32 $d, $a, $b;", "pred : b32 b32", {{s(-1), 1, 1}, {5, 5, 0}}},
       {"setp.hs.u32 $d, $a, $b;", "pred : b32 b32", {{5, 5, 1}, {5, 6, 0}}},
       // p is the comparison, q its negation, each combined with c.
       {"setp.lt.s32 $d|$e, $a, $b;", "pred pred : b32 b32", {{1, 2, 1, 0}, {2, 1, 0, 1}}},
       {"setp.lt.and.s32 $d|$e, $a, $b, $c;",
        "pred pred : b32 b32 pred",
        {{1, 2, 1, 1, 0}, {1, 2, 0, 0, 0}, {2, 1, 1, 0, 1}}},
       {"setp.lt.or.s32 $d|$e, $a, $b, $c;",
        "pred pred : b32 b32 pred",
        {{1, 2, 0, 1, 0}, {2, 1, 0, 0, 1}, {2, 1, 1, 1, 1}}},
       {"setp.eq.xor.s32 $d, $a, $b, $c;",
        "pred : b32 b32 pred",
        {{1, 1, 1, 0}, {1, 1, 0, 1}, {1, 2, 1, 1}}},
       {"setp.eq.and.s32 $d, $a, $b, !$c;", "pred : b32 b32 pred", {{1, 1, 0, 1}, {1, 1, 1, 0}}}});
  return table;
}

// With a NaN the ordered comparisons and ne are false, the u ones true.
Table float_comparisons() {
  Table table;
  for (const Comparison& c : kComparisons) {
    for (const bool unordered : {false, true}) {
      const std::string name = std::string("setp.") + c.name + (unordered ? "u." : ".");
      table.push_back({name + "f32 $d, $a, $b;",
                       "pred : f32 f32",
                       {{f(-1), f(1), c.less},
                        {0, kMinus, c.equal},
                        {f(2), f(1), c.greater},
                        {kNan, f(1), unordered},
                        {f(1), kNan, unordered}}});
      table.push_back({name + "f64 $d, $a, $b;",
                       "pred : f64 f64",
                       {{d(-1), d(1), c.less},
                        {d(1), d(1), c.equal},
                        {d(2), d(1), c.greater},
                        {kNan64, kNan64, unordered}}});
    }
  }
  add(table, {{"setp.num.f32 $d, $a, $b;", "pred : f32 f32", {{f(1), f(2), 1}, {kNan, f(1), 0}}},
              {"setp.nan.f32 $d, $a, $b;", "pred : f32 f32", {{f(1), f(2), 0}, {f(1), kNan, 1}}},
              {"setp.num.f64 $d, $a, $b;", "pred : f64 f64", {{d(1), d(2), 1}, {d(1), kNan64, 0}}},
              {"setp.nan.f64 $d, $a, $b;", "pred : f64 f64", {{d(1), d(2), 0}, {d(1), kNan64, 1}}},
              {"setp.eq.ftz.f32 $d, $a, $b;", "pred : f32 f32", {{1, 0, 1}, {f(1), 0, 0}}},
              {"setp.lt.f16 $d, $a, $b;",
               "pred : b16 b16",
               {{0x3c00, 0x4000, 1}, {0xbc00, 0x3c00, 1}, {0x7e00, 0x3c00, 0}}},
              {"setp.lt.and.f32 $d, $a, $b, $c;",
               "pred : f32 f32 pred",
               {{f(1), f(2), 1, 1}, {f(1), f(2), 0, 0}}}});
  return table;
}

Table choices() {
  Table table;
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"}) {
    const std::string r = reg_of(type);
    table.push_back({std::string("selp.") + type + " $d, $a, $b, $c;",
                     r + " : " + r + " " + r + " pred",
                     {{s(-7), 9, 1, s(-7)}, {s(-7), 9, 0, 9}}});
  }
  add(table,
      {{"selp.f32 $d, $a, $b, $c;",
        "f32 : f32 f32 pred",
        {{f(1), f(2), 1, f(1)}, {f(1), f(2), 0, f(2)}}},
       {"selp.f64 $d, $a, $b, $c;",
        "f64 : f64 f64 pred",
        {{d(1), d(2), 1, d(1)}, {d(1), d(2), 0, d(2)}}},
       {"selp.b32 $d, $a, $b, !$c;", "b32 : b32 b32 pred", {{1, 2, 1, 2}}},
       {"slct.b32.s32 $d, $a, $b, $c;", "b32 : b32 b32 b32", {{1, 2, 0, 1}, {1, 2, s(-1), 2}}},
       {"slct.u64.s32 $d, $a, $b, $c;", "b64 : b64 b64 b32", {{1, 2, 5, 1}, {1, 2, s(-5), 2}}},
       {"slct.b32.f32 $d, $a, $b, $c;",
        "b32 : b32 b32 f32",
        {{1, 2, kMinus, 1}, {1, 2, f(-1), 2}, {1, 2, kNan, 2}}},
       {"set.lt.u32.s32 $d, $a, $b;", "b32 : b32 b32", {{s(-1), 1, 0xffffffff}, {1, 1, 0}}},
       {"set.eq.s32.u32 $d, $a, $b;", "b32 : b32 b32", {{1, 1, 0xffffffff}}},
       {"set.lt.f32.s32 $d, $a, $b;", "f32 : b32 b32", {{1, 2, f(1)}, {2, 1, 0}}},
       {"set.gt.u32.f32 $d, $a, $b;",
        "b32 : f32 f32",
        {{f(2), f(1), 0xffffffff}, {kNan, f(1), 0}}}});
  return table;
}

}  // namespace

Table logic_table() {
  Table table = bitwise();
  for (const Table& more : {integer_comparisons(), float_comparisons(), choices()})
    add(table, more);
  return table;
}

}  // namespace softgpu::tests
