#include "scenarios/cli/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace traingraph::scenarios::cli {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

}  // namespace

Terminal Terminal::of_process() {
  return {.stdout_is_tty = ::isatty(STDOUT_FILENO) == 1,
          .stderr_is_tty = ::isatty(STDERR_FILENO) == 1,
          .term = environment("TERM"),
          .no_color = environment("NO_COLOR"),
          .ci = !environment("CI").empty()};
}

void occupy_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free descriptor is fd itself; read-only, so that what is written there fails instead of vanishing.
    if (::open("/dev/null", O_RDONLY) != fd) return;
  }
}

}  // namespace traingraph::scenarios::cli
