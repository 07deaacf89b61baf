// PTX around the instructions of a table.
#include <sstream>

#include "form_case.hpp"

namespace softgpu::tests {

namespace {

constexpr const char* kResults[] = {"d", "e"};
constexpr const char* kOperands[] = {"a", "b", "c", "x", "y"};

// "$a" is the register %a.
std::string with_registers(std::string text) {
  for (char& c : text) {
    if (c == '$') c = '%';
  }
  return text;
}

// A row's word in memory.
std::string word_type(const std::string& type) {
  return type[0] == 'f' ? "b" + type.substr(1) : type;
}

class Writer {
 public:
  std::string write(const Table& table) {
    out_ << R"(.version 8.3
.target sm_90
.address_size 64
.shared .align 16 .b8 window[512];
.visible .entry forms(.param .u64 rows, .param .u64 results, .param .u64 scratch)
{
  .local .align 16 .b8 depot[16];
  .reg .pred %skip;
  .reg .b32 %tid, %word;
  .reg .b64 %rows, %results, %row, %wide, %g, %m, %s, %w, %l;
  mov.u32 %tid, %tid.x;
  ld.param.u64 %rows, [rows];
  ld.param.u64 %results, [results];
  ld.param.u64 %g, [scratch];
  mad.wide.u32 %g, %tid, 16, %g;
  mov.u64 %m, %g;
  mov.u64 %s, window;
  mad.wide.u32 %s, %tid, 16, %s;
  cvta.shared.u64 %w, %s;
  mov.u64 %l, depot;
)";
    for (const Case& c : table) write(c);
    out_ << "  ret;\n}\n";
    return out_.str();
  }

 private:
  void write(const Case& c) {
    const Signature types = signature_of(c);
    const std::string after = "AFTER" + std::to_string(count_++);
    out_ << "  setp.ge.u32 %skip, %tid, " << c.rows.size() << ";\n  @%skip bra " << after
         << ";\n  {\n";
    out_ << "  mad.wide.u32 %row, %tid, " << 8 * types.operands.size() << ", %rows;\n";
    fill(c.text);
    for (std::size_t i = 0; i < types.operands.size(); ++i)
      operand(kOperands[i], types.operands[i], 8 * i);
    for (std::size_t i = 0; i < types.results.size(); ++i) {
      out_ << "  .reg ." << types.results[i] << " %" << kResults[i] << ";\n";
    }
    out_ << "  " << with_registers(c.text) << "\n";
    out_ << "  mad.wide.u32 %row, %tid, " << 8 * types.results.size() << ", %results;\n";
    for (std::size_t i = 0; i < types.results.size(); ++i)
      result(kResults[i], types.results[i], 8 * i);
    out_ << "  }\n" << after << ":\n";
    out_ << "  add.u64 %rows, %rows, " << 8 * types.operands.size() * c.rows.size() << ";\n";
    out_ << "  add.u64 %results, %results, " << 8 * types.results.size() * c.rows.size() << ";\n";
  }

  void fill(const std::string& text) {
    const auto has = [&](const char* name) { return text.find(name) != std::string::npos; };
    const char* space = has("$g") || has("$m")   ? "global"
                        : has("$s") || has("$w") ? "shared"
                                                 : "local";
    const char* address = has("$g") || has("$m")   ? "%g"
                          : has("$s") || has("$w") ? "%s"
                          : has("$l")              ? "%l"
                                                   : nullptr;
    if (address == nullptr) return;
    for (const char* offset : {"", "+8"}) {
      out_ << "  st." << space << ".b64 [" << address << offset << "], 0xa5a5a5a5a5a5a5a5;\n";
    }
  }

  void operand(const std::string& name, const std::string& type, std::size_t offset) {
    out_ << "  .reg ." << type << " %" << name << ";\n";
    if (type == "pred") {
      out_ << "  ld.global.b32 %word, [%row+" << offset << "];\n  setp.ne.u32 %" << name
           << ", %word, 0;\n";
    } else {
      out_ << "  ld.global." << type << " %" << name << ", [%row+" << offset << "];\n";
    }
  }

  void result(const std::string& name, const std::string& type, std::size_t offset) {
    if (type == "pred") {
      out_ << "  selp.u64 %wide, 1, 0, %" << name << ";\n";
    } else if (word_type(type) == "b64") {
      out_ << "  mov.b64 %wide, %" << name << ";\n";
    } else if (type == "f32") {
      out_ << "  mov.b32 %word, %" << name << ";\n  cvt.u64.u32 %wide, %word;\n";
    } else {
      out_ << "  cvt.u64.u" << word_type(type).substr(1) << " %wide, %" << name << ";\n";
    }
    out_ << "  st.global.u64 [%row+" << offset << "], %wide;\n";
  }

  std::ostringstream out_;
  unsigned count_ = 0;
};

}  // namespace

Signature signature_of(const Case& c) {
  Signature types;
  std::istringstream words(c.types);
  bool are_results = true;
  for (std::string word; words >> word;) {
    if (word == ":") {
      are_results = false;
    } else {
      (are_results ? types.results : types.operands).push_back(word);
    }
  }
  return types;
}

std::string ptx_of(const Table& table) { return Writer().write(table); }

std::string ptx_of(const std::string& instruction) {
  return ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry one()\n{\n"
         "  .reg .b16 %h;\n  .reg .b32 %r;\n  .reg .b64 %q, %o, %g, %m, %s;\n  " +
         with_registers(instruction) + "\n  ret;\n}\n";
}

}  // namespace softgpu::tests
