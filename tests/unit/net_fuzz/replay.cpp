// Runs a fuzzer's target without libFuzzer: replay <seconds> <corpus folder>. First every file of
// the corpus, and then for so many seconds mutated files. A finding is written to the working
// folder.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

void run(const Input& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

std::vector<Input> read_corpus(const char* folder) {
  std::vector<Input> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

std::size_t below(std::size_t n, Random& random) { return n ? random() % n : 0; }

void change(Input& input, const Input& other, Random& random) {
  const std::size_t at = below(input.size() + 1, random);
  const auto here = input.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 5) {
    case 0:
      if (at < input.size()) input[at] ^= static_cast<std::uint8_t>(1u << random() % 8);
      return;
    case 1:
      input.insert(here, 1 + below(8, random), static_cast<std::uint8_t>(random()));
      return;
    case 2:
      input.erase(here, input.end());
      return;
    case 3:
      input.insert(here, other.begin(), other.end());
      return;
    default:
      if (at < input.size()) input.erase(here);
  }
}

// The input that is running, for the analysis of a crash.
void keep(const Input& input, const std::string& name) {
  std::ofstream(name, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
}

Input running;
void keep_running() { keep(running, "finding"); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto corpus = read_corpus(argv[2]);
  if (corpus.empty()) return 1;  // a mistake in the call
  for (const Input& input : corpus) run(input);
  const auto seed = std::random_device{}();
  std::printf("%zu inputs; changing them with seed %u\n", corpus.size(), seed);
  std::atexit(keep_running);
  Random random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  long long inputs = 0;
  for (; std::chrono::steady_clock::now() < end; ++inputs) {
    running = corpus[below(corpus.size(), random)];
    for (std::size_t changes = 1 + below(4, random); changes > 0; --changes)
      change(running, corpus[below(corpus.size(), random)], random);
    run(running);
  }
  std::printf("%lld changed inputs\n", inputs);
  std::_Exit(std::fflush(nullptr) ? 1 : 0);
}
