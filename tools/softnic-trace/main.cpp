// softnic-trace: reads the traces that SOFTNIC_TRACE writes.
//
// Exit codes as of diff(1): 0 nothing differs, 1 something does, 2 it could not be read or written,
// or the command line is wrong.

#include <fstream>
#include <iostream>

#include "decode.hpp"
#include "diff.hpp"
#include "perfetto.hpp"
#include "print.hpp"
#include "tools/options.hpp"

namespace {

struct Options {
  std::vector<std::string> files;
  std::string one, other, out = "-";
  std::vector<std::string> ignore;
  std::vector<std::string> events = {"wqe", "receive_wqe", "doorbell", "cqe"};
  std::size_t limit = 20;
};

int diff(const Options& o) {
  DiffOptions options{
      {o.ignore.begin(), o.ignore.end()}, {o.events.begin(), o.events.end()}, o.limit};
  options.ignore.insert("time");  // no two runs have the same
  return diff_traces(read_trace(o.one), read_trace(o.other), options, std::cout) ? 0 : 1;
}

void convert(const Options& o) {
  const std::string text = perfetto_of(read_traces(o.files)).dump();
  if (o.out == "-") {
    std::cout << text << '\n';
    return;
  }
  std::ofstream file(o.out);
  file << text << '\n';
  if (!file.flush()) throw BadTrace(o.out + ": " + std::strerror(errno));
}

std::string group_names() {
  std::string names;
  for (const Group group : kAllGroups)
    names += std::string(names.empty() ? "" : ", ") + name_of(group);
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Reads traces of the softnic (SOFTNIC_TRACE, softnic-run --trace). '-' is standard "
      "input or output."};
  app.require_subcommand(1);
  Options o;
  auto* print = app.add_subcommand("print", "One line for each event; several traces by time");
  print->add_option("trace", o.files, "JSON lines")->required();
  auto* compare = app.add_subcommand(
      "diff", "Compares two traces, queue by queue; exit code 0: equal, 1: not, 2: unreadable");
  compare->add_option("one", o.one)->required();
  compare->add_option("other", o.other)->required();
  compare
      ->add_option("--ignore", o.ignore,
                   "What may differ besides time, separated by commas: " + group_names() +
                       ", or fields by name")
      ->delimiter(',');
  compare
      ->add_option("--events", o.events,
                   "What is compared: wqe, receive_wqe, doorbell, cqe, ioctl, write, command")
      ->delimiter(',')
      ->check(
          CLI::IsMember({"wqe", "receive_wqe", "doorbell", "cqe", "ioctl", "write", "command"}));
  compare->add_option("--limit", o.limit, "How many differences are printed (20)");
  auto* perfetto = app.add_subcommand("perfetto", "Writes JSON for ui.perfetto.dev");
  perfetto->add_option("trace", o.files, "JSON lines")->required();
  perfetto->add_option("-o,--out", o.out, "File (standard output)");
  if (const auto code = chime::tools::exit_code_after_parsing("softnic-trace", app, argc, argv))
    return *code;
  try {
    int exit_code = 0;
    if (*compare) exit_code = diff(o);
    if (*perfetto) convert(o);
    if (*print) print_trace(read_traces(o.files), std::cout);
    return chime::tools::exit_code_after_printing("softnic-trace", exit_code);
  } catch (const std::exception& error) {
    std::cerr << "softnic-trace: " << error.what() << '\n';
    return chime::tools::kCannot;
  }
}
