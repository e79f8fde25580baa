#include <fmt/format.h>

#include <memory>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/interrupt.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/cli/version.h"
#include "scenarios/serve/page_server.h"

namespace traingraph::scenarios::cli {
namespace {

std::unique_ptr<serve::PageServer> listening(const Options& options) {
  try {
    return std::make_unique<serve::PageServer>(
        serve::PageServerOptions{.port = options.port, .version = version(), .threads = options.threads});
  } catch (const serve::PortTaken& e) {
    throw EnvironmentError{fmt::format("--port: {}", e.what())};
  }
}

}  // namespace

void serve(const Options& options) {
  const PolledSection polled;
  const auto server = listening(options);
  write_stdout(fmt::format("http://127.0.0.1:{}/\n", server->port()));
  if (!options.quiet) write_stderr("open this address in a browser on this machine; Ctrl-C ends\n");
  server->run(interrupted());
}

}  // namespace traingraph::scenarios::cli
