// Ctrl-C and SIGTERM: the first asks the run to stop (it throws sim::Cancelled, so that everything half-made is cleaned up),
// the second ends the process at once. SIGPIPE is ignored, so that a reader that went away is an ordinary write error.
#pragma once

#include <atomic>

namespace traingraph::scenarios::cli {

/// Installs the handlers. Call once, from main.
void install_signal_handlers();

/// Becomes true at the first SIGINT or SIGTERM.
[[nodiscard]] const std::atomic<bool>& interrupted();

}  // namespace traingraph::scenarios::cli
