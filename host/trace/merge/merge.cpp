#include "host/trace/merge/merge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "host/errors/error.hpp"
#include "host/trace/merge/json.hpp"
#include "host/trace/paths.hpp"

namespace chime::trace {
namespace {

namespace fs = std::filesystem;

std::string sentence(const std::string& path, const Summary& summary) {
  std::string text = fmt::format("{}: {} events", path, summary.events);
  if (summary.dropped > 0)
    text += fmt::format("; {} more had no room (raise CHIME_TRACE_EVENTS)", summary.dropped);
  if (!summary.not_closed.empty())
    text += fmt::format("; recorded until they were killed: PE {}",
                        fmt::join(summary.not_closed, ", "));
  if (!summary.missing.empty())
    text += fmt::format("; nothing was found of PE {}", fmt::join(summary.missing, ", "));
  return text;
}

void remove_parts(const std::string& path, const Parts& parts) {
  std::error_code ignored;
  for (const std::string& file : parts.files) fs::remove(file, ignored);
  fs::remove(folder_of_parts(path), ignored);  // stays if it holds something of somebody else's
}

}  // namespace

bool has_parts(const std::string& path) {
  std::error_code error;
  return fs::is_directory(folder_of_parts(path), error) &&
         !fs::is_empty(folder_of_parts(path), error);
}

bool parts_are_complete(const std::string& path) {
  const Parts parts = read_parts(folder_of_parts(path));
  int pes = 0;
  for (const auto& part : parts.all) pes += part->header().pes_here;
  return parts.are_complete() && pes == parts.all.front()->header().n_pes;
}

// The whole file gets its name by one step.
std::string merge(const std::string& path, const EndsOfPes& ends) {
  const Parts parts = read_parts(folder_of_parts(path));
  const std::vector<Span> spans = parts.spans(ends);
  const Tracks tracks = make_tracks(spans);
  const std::vector<Arrow> arrows = find_arrows(spans);
  const Timeline timeline{parts, spans, tracks, arrows};
  const std::string draft = fmt::format("{}/{}.draft", folder_of_parts(path), ::getpid());
  try {
    write_json(timeline, draft);
    if (std::rename(draft.c_str(), path.c_str()) != 0)
      throw host::system_error("timeline", fmt::format("cannot name {} {}", draft, path));
  } catch (...) {
    ::unlink(draft.c_str());
    throw;
  }
  const std::string words = sentence(path, summarize(timeline));
  remove_parts(path, parts);
  return words;
}

}  // namespace chime::trace
