// A table for each collective, in one of the public layouts.
#pragma once

#include <vector>

#include "collective_figures.hpp"
#include "collective_job.hpp"
#include "collective_layouts.hpp"
#include "collective_options.hpp"
#include "sweep.hpp"

namespace chime::perf {

template <class Layout>
void print_tables(CollectiveJob& job, const CollectiveOptions& options, bool prints,
                  const std::vector<Size>& sizes, CollectiveFigures& all) {
  for (const Collective kind : kWithData) {
    Layout table({kind, job.n_pes(), in_words(options.form)});
    const auto measure = [&](const Options& chosen, Size size, bool is_in_place) {
      const Figure figure = job.measure(chosen, options.form, kind, size.bytes, is_in_place);
      all.keep(size, {kind, is_in_place}, figure.us.longest);
      return figure;
    };
    sweep(table, options, prints, sizes, [&](const Options& chosen, Size size) {
      Figures figures = {measure(chosen, size, false), {}};
      if (is_allowed_in_place(kind)) figures.in_place = measure(chosen, size, true);
      return figures;
    });
  }
}

}  // namespace chime::perf
