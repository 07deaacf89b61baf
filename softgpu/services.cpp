#include "softgpu/services.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "softgpu/driver/memory/multicast.hpp"
#include "softgpu/kernel_code.hpp"
#include "softgpu/launch_counts.hpp"

namespace softgpu {

namespace {

class Formatter {
 public:
  Formatter(const char* format, const std::uint8_t* arguments)
      : at_(format), arguments_(arguments) {}

  std::string format() {
    while (*at_ != '\0') {
      if (*at_ != '%') {
        out_ += *at_++;
      } else if (at_[1] == '%') {
        out_ += '%';
        at_ += 2;
      } else {
        conversion();
      }
    }
    return std::move(out_);
  }
  int count() const { return count_; }

 private:
  // %[flags][width][.precision][length]conversion, as in C, without '*'. Other text is written
  // unchanged.
  void conversion() {
    const char* end = at_ + 1;
    end += std::strspn(end, "-+ #0123456789.");
    std::string spec(at_, end);
    const std::size_t length = std::strspn(end, "hlLjzt");
    const bool is_long = std::strcspn(end, "ljzt") < length;
    end += length;
    if (*end != '\0' && std::strchr("diouxXc", *end)) {
      integer(spec, *end, is_long);
    } else if (*end != '\0' && std::strchr("fFeEgGaA", *end)) {
      print(spec + *end, take<double>());
    } else if (*end == 's') {
      const char* text = take<const char*>();
      print(spec + 's', text ? text : "(null)");
    } else if (*end == 'p') {
      print(spec + 'p', take<void*>());
    } else {
      out_ += *at_++;
      return;
    }
    ++count_;
    at_ = end + 1;
  }

  void integer(const std::string& spec, char conversion, bool is_long) {
    if (conversion == 'c') return print(spec + 'c', take<int>());
    if (is_long) return print(spec + "ll" + conversion, take<long long>());
    print(spec + conversion, take<int>());
  }

  template <class T>
  T take() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, arguments_ + offset_, sizeof value);
    offset_ += sizeof value;
    return value;
  }

  template <class T>
  void print(const std::string& spec, T value) {
    const int bytes = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (bytes < 0) return;
    std::string text(static_cast<std::size_t>(bytes) + 1, '\0');
    std::snprintf(text.data(), text.size(), spec.c_str(), value);
    text.pop_back();
    out_ += text;
  }

  const char* at_;
  const std::uint8_t* const arguments_;
  std::size_t offset_ = 0;
  int count_ = 0;
  std::string out_;
};

int print_to_stdout(const char* format, const std::uint8_t* arguments) {
  if (format == nullptr) return -1;
  int count = 0;
  const std::string text = formatted(format, arguments, &count);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return count;
}

Column kind_of_memory_at(const Module& module, std::uint64_t address) {
  const Column own = module.variable_at(address);
  return own == Column::kOther ? memory_at(address) : own;
}

// A kernel that ends destroys no objects of its thread: so the text is in an array.
void trap_at_misaligned(const Env& e, const char* function, std::uint32_t site,
                        std::uint64_t address, std::uint32_t bytes) {
  char words[400];
  std::snprintf(words, sizeof words, "misaligned address %#llx, no multiple of %u, at %s",
                static_cast<unsigned long long>(address), bytes,
                e.kernel->line_of_site(e.counts != nullptr, function, site).c_str());
  chime::simt::trap(words);
}

// The message says what is wrong with the address: of another kind, or without memory as yet.
unsigned addresses_of_multicast(std::uint64_t address, std::size_t bytes,
                                std::uint64_t (&addresses)[kMostMulticast]) {
  const unsigned devices = driver::multicast_addresses(address, bytes, addresses);
  if (devices != 0) return devices;
  char words[200];
  std::snprintf(words, sizeof words,
                "multimem at %#llx, which is no multicast address at which all devices have %zu "
                "bytes of memory",
                static_cast<unsigned long long>(address), bytes);
  chime::simt::trap(words);
}

}  // namespace

std::string formatted(const char* format, const std::uint8_t* arguments, int* count) {
  Formatter formatter(format, arguments);
  std::string text = formatter.format();
  *count = formatter.count();
  return text;
}

const Services& services() {
  static constexpr Services kServices{print_to_stdout,    std::malloc,
                                      std::free,          kind_of_memory_at,
                                      trap_at_misaligned, addresses_of_multicast};
  return kServices;
}

}  // namespace softgpu
