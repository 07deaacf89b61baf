// atom and red of every operation and type: the value before, and the word in memory after.
#include "form_case.hpp"

namespace softgpu::tests {

namespace {

struct Operation {
  const char *name, *type;
  std::vector<Row> rows;  // in memory, operand, in memory after
};

std::vector<Operation> operations() {
  return {
      {"add", "u32", {{5, 7, 12}, {0xffffffff, 2, 1}}},
      {"add", "s32", {{5, s(-7), s(-2)}}},
      {"add", "u64", {{5, 7, 12}, {~0ull, 2, 1}}},
      {"add", "f32", {{f(1.5f), f(2), f(3.5f)}, {f(1), f(0x1p-25f), f(1)}}},
      {"add", "f64", {{d(1.5), d(2), d(3.5)}}},
      {"exch", "b32", {{5, 7, 7}}},
      {"exch", "b64", {{5, s(-7), s(-7)}}},
      {"min", "u32", {{5, 7, 5}, {0xffffffff, 7, 7}}},
      {"min", "s32", {{5, s(-7), s(-7)}, {s(-7), 5, s(-7)}}},
      {"min", "u64", {{~0ull, 7, 7}}},
      {"min", "s64", {{5, s(-7), s(-7)}, {s(-7), 5, s(-7)}}},
      {"max", "u32", {{5, 7, 7}, {0xffffffff, 7, 0xffffffff}}},
      {"max", "s32", {{5, s(-7), 5}, {s(-7), 5, 5}}},
      {"max", "u64", {{~0ull, 7, ~0ull}}},
      {"max", "s64", {{5, s(-7), 5}}},
      {"and", "b32", {{0xf0f0, 0xff00, 0xf000}}},
      {"and", "b64", {{0xf0f0, 0xff00, 0xf000}}},
      {"or", "b32", {{0xf0f0, 0xff00, 0xfff0}}},
      {"or", "b64", {{0xf0f0, 0xff00, 0xfff0}}},
      {"xor", "b32", {{0xf0f0, 0xff00, 0x0ff0}}},
      {"xor", "b64", {{0xf0f0, 0xff00, 0x0ff0}}},
      // inc wraps to 0 at its operand, dec to its operand below 0 and beyond it.
      {"inc", "u32", {{5, 7, 6}, {7, 7, 0}, {9, 7, 0}, {0xffffffff, 0xffffffff, 0}}},
      {"dec", "u32", {{5, 7, 4}, {7, 7, 6}, {0, 7, 7}, {9, 7, 7}}},
  };
}

struct Where {
  const char *space, *address;
};

}  // namespace

Table atomics_table() {
  Table table;
  for (const Where& where : {Where{"global.", "$g"}, Where{"", "$m"}, Where{"shared.", "$s"}}) {
    const std::string at = std::string("[") + where.address + "]", space = where.space;
    for (const Operation& o : operations()) {
      const std::string type = o.type, bits = "b" + type.substr(1);
      const std::string form = space + o.name + "." + type;
      Case atom{"st." + space + bits + " " + at + ", $a; atom." + form + " $d, " + at +
                    ", $b; ld." + space + bits + " $e, " + at + ";",
                bits + " " + bits + " : " + bits + " " + bits,
                {}};
      Case red{"st." + space + bits + " " + at + ", $a; red." + form + " " + at + ", $b; ld." +
                   space + bits + " $d, " + at + ";",
               bits + " : " + bits + " " + bits,
               {}};
      for (const Row& row : o.rows) {
        atom.rows.push_back({row[0], row[1], row[0], row[2]});
        red.rows.push_back(row);
      }
      table.push_back(atom);
      if (std::string(o.name) != "exch") table.push_back(red);
    }
    for (const std::string bits : {"b16", "b32", "b64"}) {
      table.push_back({"st." + space + bits + " " + at + ", $a; atom." + space + "cas." + bits +
                           " $d, " + at + ", $b, $c; ld." + space + bits + " $e, " + at + ";",
                       bits + " " + bits + " : " + bits + " " + bits + " " + bits,
                       {{5, 5, s(-9), 5, s(-9)}, {5, 6, 9, 5, 5}}});
    }
  }
  // In global memory f32 has no subnormals, neither as operands nor as sums; in shared memory it
  // has. For a generic address its window decides.
  const std::uint64_t kLeast = f(0x1p-126f), kMore = f(0x1.8p-126f);
  for (const Where& where :
       {Where{"global.", "$g"}, Where{"", "$m"}, Where{"shared.", "$s"}, Where{"", "$w"}}) {
    const bool flushes = where.address[1] == 'g' || where.address[1] == 'm';
    const std::string at = std::string("[") + where.address + "]", space = where.space;
    const std::vector<Row> rows = flushes ? std::vector<Row>{{1, 1, 0},
                                                             {kMinus | 1, kMinus | 1, kMinus},
                                                             {kLeast, kMinus | 1, kLeast},
                                                             {kMore, kMinus | kLeast, 0}}
                                          : std::vector<Row>{{1, 1, 2},
                                                             {kMinus | 1, kMinus | 1, kMinus | 2},
                                                             {kLeast, kMinus | 1, kLeast - 1},
                                                             {kMore, kMinus | kLeast, 0x400000}};
    Case atom{"st." + space + "b32 " + at + ", $a; atom." + space + "add.f32 $d, " + at +
                  ", $b; ld." + space + "b32 $e, " + at + ";",
              "b32 b32 : b32 b32",
              {}};
    Case red{"st." + space + "b32 " + at + ", $a; red." + space + "add.f32 " + at + ", $b; ld." +
                 space + "b32 $d, " + at + ";",
             "b32 : b32 b32",
             {}};
    for (const Row& row : rows) {
      atom.rows.push_back({row[0], row[1], row[0], row[2]});
      red.rows.push_back(row);
    }
    add(table, {atom, red});
  }
  add(table,
      {{"st.global.b16 [$g], $a; atom.global.add.noftz.f16 $d, [$g], $b; ld.global.b16 $e, [$g];",
        "b16 b16 : b16 b16",
        {{0x3c00, 0x4000, 0x3c00, 0x4200}}},
       {"st.global.b16 [$g], $a; atom.global.add.noftz.bf16 $d, [$g], $b; ld.global.b16 $e, [$g];",
        "b16 b16 : b16 b16",
        {{0x3f80, 0x4000, 0x3f80, 0x4040}}},
       {"st.global.b32 [$g], $a; atom.global.add.u32 _, [$g], $b; ld.global.b32 $d, [$g];",
        "b32 : b32 b32",
        {{5, 7, 12}}}});
  return table;
}

}  // namespace softgpu::tests
