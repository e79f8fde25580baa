#include "scenarios/cli/interrupt.h"

#include <csignal>

namespace traingraph::scenarios::cli {
namespace {

// The one variable of the program with static storage that changes: a signal handler can reach nothing else.
std::atomic<bool> interrupted_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void on_interrupt(int) { interrupted_flag.store(true, std::memory_order_relaxed); }

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal ends the process
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

const std::atomic<bool>& interrupted() { return interrupted_flag; }

}  // namespace traingraph::scenarios::cli
