// What is at the other end of the three standard streams; asked once, in main, and handed down.
#pragma once

#include <optional>
#include <string>

namespace traingraph::scenarios::cli {

struct Terminal {
  bool stdout_is_tty = false;
  bool stderr_is_tty = false;
  std::string term;      ///< TERM
  std::string no_color;  ///< NO_COLOR; unset and empty mean the same
  bool ci = false;       ///< CI is set and not empty

  /// Asks the process's own streams and environment.
  [[nodiscard]] static Terminal of_process();

  /// stdout may be coloured when nobody said otherwise.
  [[nodiscard]] bool wants_color() const { return stdout_is_tty && term != "dumb" && no_color.empty(); }
  /// stderr may show a progress line when nobody said otherwise.
  [[nodiscard]] bool wants_progress() const { return stderr_is_tty && term != "dumb" && !ci; }
};

/// Makes sure that descriptors 0, 1 and 2 are open, so that no file of ours is ever opened as "stdout" and written into. A
/// closed one becomes a stream on which reading finds the end and writing fails.
void occupy_standard_streams();

}  // namespace traingraph::scenarios::cli
