// PageServer: the interactive page over HTTP, for one person on this machine.
//
//   GET  /, /NAME             the page's files (analysis/web_assets.h)
//   GET  /api/presets         GPU presets of the closed-form model
//   POST /api/limits          limits_service.h
//   GET  /api/examples        the example scenarios: [{"name", "text"}, ...]
//   /api/check, /api/runs...  run_service.h
//
// It listens on the loopback address only and answers requests that name it by a loopback name (Host), so that no other
// site's page can reach it by a name of its own; posts from another origin are refused, and posts are JSON or refused. No
// path of a request is ever opened as a file. Bodies are at most kLargestBody, a connection that does not talk is closed
// after kPatience. Errors are JSON {"error": text} and name no path of this machine.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace traingraph::scenarios::serve {

/// The port cannot be listened on.
class PortTaken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct PageServerOptions {
  std::uint16_t port = 0;     ///< 0: any free one
  std::string version;        ///< of the program
  std::uint32_t threads = 1;  ///< re-runs at a time
};

class PageServer {
 public:
  static constexpr std::size_t kLargestBody = std::size_t{2} << 20U;
  static constexpr std::chrono::seconds kPatience{5};

  /// Takes the port. Throws PortTaken.
  explicit PageServer(const PageServerOptions& options);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer();

  [[nodiscard]] std::uint16_t port() const;
  /// Answers until `stop` becomes true.
  void run(const std::atomic<bool>& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traingraph::scenarios::serve
