// SIGINT (Ctrl-C), SIGTERM, SIGHUP and SIGQUIT. Inside a PolledSection the first signal asks the work to stop: it throws
// sim::Cancelled, so that everything half-made is cleaned up. Anywhere else, and when a second signal comes, the process
// ends at once, with exit code 130 and without the file in the making; SIGQUIT always does, by its default action (a core
// dump). A SIGHUP that was ignored at the start (nohup) stays so. SIGPIPE is ignored, so that a reader that went away is an
// ordinary write error.
#pragma once

#include <atomic>
#include <string>

namespace traingraph::scenarios::cli {

/// Installs the handlers. Call once, from main.
void install_signal_handlers();

/// Becomes true at the first signal inside a PolledSection.
[[nodiscard]] const std::atomic<bool>& interrupted();

/// While it lives, work is going on that looks at interrupted() again and again.
class PolledSection {
 public:
  PolledSection();
  PolledSection(const PolledSection&) = delete;
  PolledSection& operator=(const PolledSection&) = delete;
  ~PolledSection();
};

/// While it lives, a signal that ends the process removes the file. One at a time; longer paths than the system takes are
/// not watched.
class RemovedOnSignal {
 public:
  explicit RemovedOnSignal(const std::string& file);
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
  ~RemovedOnSignal();
};

}  // namespace traingraph::scenarios::cli
