// The text by which a job that measures tells its samples: a line for the path, a line a size, a
// line a copy.
#include <iomanip>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "measure.hpp"

namespace chime::predict {

void write_samples(std::ostream& out, const Samples& samples) {
  out << "path " << samples.path << '\n' << std::setprecision(9);
  for (const Sample& one : samples.samples)
    out << "put " << one.bytes << ' ' << one.put_us << ' ' << one.put_host_us << ' '
        << one.staged_us << ' ' << one.staged_host_us << '\n';
  for (const Copy& one : samples.copies) out << "copy " << one.bytes << ' ' << one.us << '\n';
  out.flush();
}

Samples read_samples(const std::string& text) {
  std::istringstream in(text);
  Samples samples;
  std::string word;
  if (!(in >> word >> samples.path) || word != "path")
    throw std::runtime_error("the job that measures printed no samples: '" + text + "'");
  while (in >> word) {
    Sample one;
    Copy copy;
    if (word == "put" &&
        in >> one.bytes >> one.put_us >> one.put_host_us >> one.staged_us >> one.staged_host_us)
      samples.samples.push_back(one);
    else if (word == "copy" && in >> copy.bytes >> copy.us)
      samples.copies.push_back(copy);
    else
      throw std::runtime_error("a sample of the job that measures is not whole: '" + text + "'");
  }
  return samples;
}

}  // namespace chime::predict
