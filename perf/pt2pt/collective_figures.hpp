// All figures of a benchmark of collectives, whatever it prints: for --json.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "collectives.hpp"
#include "table.hpp"

namespace chime::perf {

struct Measured {
  Collective kind;
  bool is_in_place = false;

  std::string name() const { return std::string(name_of(kind)) + (is_in_place ? " in place" : ""); }
};

// Every call that moves data, each in place behind itself where that is allowed.
inline std::vector<Measured> all_measured() {
  std::vector<Measured> all;
  for (const Collective kind : kWithData) {
    all.push_back({kind});
    if (is_allowed_in_place(kind)) all.push_back({kind, true});
  }
  return all;
}

class CollectiveFigures {
 public:
  explicit CollectiveFigures(int n_pes) : n_pes_(n_pes) {}

  void keep(Size size, const Measured& call, double us) { us_[size.bytes][call.name()] = us; }
  double us(Size size, const Measured& call) const { return us_.at(size.bytes).at(call.name()); }

  double alg_gigabytes(Size size, const Measured& call) const {
    return perf::alg_gigabytes(call.kind, size.bytes, n_pes_, us(size, call));
  }
  double bus_gigabytes(Size size, const Measured& call) const {
    return perf::bus_gigabytes(call.kind, size.bytes, n_pes_, us(size, call));
  }

  bool write_json(const std::string& path, const std::string& title,
                  const std::vector<std::string>& notes) const {
    std::vector<std::string> columns;
    for (const Measured& call : all_measured())
      for (const char* unit : {" (us)", " algbw (GB/s)", " (GB/s)"})
        columns.push_back(call.name() + unit);
    Table table(title, "size", columns, notes);
    for (const auto& [bytes, unused] : us_) table.keep(Size{bytes}, row({bytes}));
    return table.write_json(path);
  }

 private:
  std::vector<double> row(Size size) const {
    std::vector<double> figures;
    for (const Measured& call : all_measured())
      for (const double figure :
           {us(size, call), alg_gigabytes(size, call), bus_gigabytes(size, call)})
        figures.push_back(figure);
    return figures;
  }

  const int n_pes_;
  std::map<std::size_t, std::map<std::string, double>> us_;  // by bytes, by call
};

}  // namespace chime::perf
