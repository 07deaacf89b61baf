// Pictures by gnuplot.
#pragma once

#include <string>

namespace examples {

// ".png, .pdf, .svg": how the names of pictures end, in small or capital letters.
std::string picture_formats();
bool is_picture(const std::string& path);

// Throws std::runtime_error that says what is missing if gnuplot cannot be run, or not draw this
// format. REQUIRES: is_picture(path).
void require_gnuplot(const std::string& path);
// Throws std::runtime_error if a file of this name cannot be written; makes an empty one if there
// is none.
void require_writable(const std::string& path);

struct PictureSize {
  int width, height;  // in pixels
};

// Draws what the commands say, in which the data is. Throws std::runtime_error if gnuplot does not
// draw it. REQUIRES: is_picture(path).
void draw_by_gnuplot(const std::string& path, const PictureSize& size, const std::string& commands);

// A text as gnuplot reads it, to the letter.
std::string quoted(const std::string& text);

}  // namespace examples
