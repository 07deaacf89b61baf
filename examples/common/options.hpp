// Options that take numbers, or several values between commas.
#pragma once

#include <string>
#include <vector>

namespace examples {

// All are false, and leave what they would set, if the text is not of this form.

// A decimal number from `least` to `most`.
bool parse_number(const std::string& text, int least, int most, int* number);
// "16,64,256": at least one.
bool parse_numbers(const std::string& text, int least, int most, std::vector<int>* numbers);
// "device,host": at least one of `known`, each at most once.
bool parse_names(const std::string& text, const std::vector<std::string>& known,
                 std::vector<std::string>* names);

// The name of a picture, as gnuplot.hpp knows them.
bool parse_picture(const std::string& text, std::string* path);

}  // namespace examples
