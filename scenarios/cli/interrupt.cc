#include "scenarios/cli/interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <string_view>

#include "scenarios/cli/exit_code.h"

namespace traingraph::scenarios::cli {
namespace {

// The variables of the program with static storage that change: a signal handler can reach nothing else.
std::atomic<bool> interrupted_flag{false};
std::atomic<bool> polled{false};
std::atomic<bool> watching{false};
std::array<char, PATH_MAX> watched{};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void on_signal(int signal) {
  if (signal != SIGQUIT && polled.load() && !interrupted_flag.exchange(true)) return;
  if (watching.load()) ::unlink(watched.data());
  if (signal == SIGQUIT) {
    std::signal(SIGQUIT, SIG_DFL);
    std::raise(SIGQUIT);
    return;
  }
  constexpr std::string_view kText = "traingraph: interrupted\n";
  if (::write(STDERR_FILENO, kText.data(), kText.size()) < 0) {
    // nobody left to tell
  }
  ::_exit(static_cast<int>(ExitCode::interrupted));
}

void handle(int signal) {
  struct sigaction before {};
  sigaction(signal, nullptr, &before);
  if (signal == SIGHUP && before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) handle(signal);
  std::signal(SIGPIPE, SIG_IGN);
}

const std::atomic<bool>& interrupted() { return interrupted_flag; }

PolledSection::PolledSection() { polled.store(true); }
PolledSection::~PolledSection() { polled.store(false); }

RemovedOnSignal::RemovedOnSignal(const std::string& file) {
  if (file.size() >= watched.size()) return;
  *std::copy(file.begin(), file.end(), watched.begin()) = '\0';
  watching.store(true);
}
RemovedOnSignal::~RemovedOnSignal() { watching.store(false); }

}  // namespace traingraph::scenarios::cli
