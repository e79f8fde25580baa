#include "scenarios/serve/page_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "analysis/web_assets.h"
#include "scenarios/example_store.h"
#include "scenarios/serve/answer.h"
#include "scenarios/serve/limits_service.h"
#include "scenarios/serve/run_service.h"
#include "sim/error.h"

namespace traingraph::scenarios::serve {
namespace {

constexpr const char* kAddress = "127.0.0.1";
constexpr std::size_t kThreads = 8;
constexpr std::size_t kRequestsPerConnection = 1000;

/// Everything comes from this server, nothing is run or styled that is not one of its files.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

/// Whether a Host header names this machine by a loopback name.
bool is_loopback(std::string_view host, std::uint16_t port) {
  static constexpr std::array<std::string_view, 2> kNames{"127.0.0.1", "localhost"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return host == name || host == fmt::format("{}:{}", name, port); });
}

void put(const Answer& answer, httplib::Response& response) {
  response.status = answer.status;
  response.set_content(answer.body, answer.type);
}

/// What keeps a request from being looked at, or nothing.
std::string refusal(const httplib::Request& request, std::uint16_t port) {
  const std::string host = request.get_header_value("Host");
  if (!is_loopback(host, port)) return "this page is for its own machine only";
  if (request.method == "GET" || request.method == "HEAD") return {};
  const std::string origin = request.get_header_value("Origin");
  return origin.empty() || origin == "http://" + host ? std::string{} : "requests from other pages are refused";
}

Answer failure(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const sim::InputError& e) {
    return error_answer(kBadRequest, e.what());
  } catch (const std::bad_alloc&) {
    return error_answer(kServerError, "out of memory");
  } catch (...) {
    return error_answer(kServerError, "internal error; please report what led to it");
  }
}

Answer examples() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const analysis::EmbeddedFile& file : example_files()) list.push_back({{"name", file.name}, {"text", file.text}});
  return json_answer(list);
}

}  // namespace

struct PageServer::State {
  explicit State(const PageServerOptions& options) : runs{options.version, options.threads} {
    server.set_socket_options([](socket_t socket) {  // the library's own choice lets two servers share a port
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.new_task_queue = [] { return new httplib::ThreadPool{kThreads}; };  // the library deletes it
    server.set_payload_max_length(kLargestBody);
    server.set_read_timeout(kPatience);
    server.set_write_timeout(kPatience);
    server.set_keep_alive_timeout(kPatience.count());
    server.set_keep_alive_max_count(kRequestsPerConnection);
    server.set_default_headers({{"Content-Security-Policy", kContentPolicy},
                                {"X-Content-Type-Options", "nosniff"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Cache-Control", "no-store"}});
    guard();
    route();
    listen_on(options.port);
  }

  void listen_on(std::uint16_t wanted) {
    if (wanted == 0) {
      port = static_cast<std::uint16_t>(std::max(0, server.bind_to_any_port(kAddress)));
    } else if (server.bind_to_port(kAddress, wanted)) {
      port = wanted;
    }
    if (port == 0) throw PortTaken{fmt::format("port {} of {} cannot be used; another program has it", wanted, kAddress)};
  }

  void guard() {
    using Handler = httplib::Server::HandlerResponse;
    server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const std::string why = refusal(request, port);
      if (why.empty()) return Handler::Unhandled;
      put(error_answer(kForbidden, why), response);
      return Handler::Handled;
    });
    server.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr error) {
      put(failure(std::move(error)), response);
    });
    server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) put(error_answer(response.status, "there is nothing here"), response);
    });
  }

  void route() {
    for (const analysis::EmbeddedFile& file : analysis::web_assets()) {
      const auto serve_file = [file](const httplib::Request&, httplib::Response& response) {
        response.set_content(file.text.data(), file.text.size(), std::string{type_of(file.name)});
      };
      server.Get("/" + std::string{file.name}, serve_file);
      if (file.name == "index.html") server.Get("/", serve_file);
    }
    get("/api/presets", [](const httplib::Request&) { return LimitsService::presets(); });
    post("/api/limits", [this](const httplib::Request& request) { return limits.answer(request.body); });
    get("/api/examples", [](const httplib::Request&) { return examples(); });
    post("/api/check", [](const httplib::Request& request) { return RunService::check(request.body); });
    post("/api/runs", [this](const httplib::Request& request) { return runs.start(request.body); });
    get("/api/runs/(\\d{1,9})", [this](const httplib::Request& request) { return runs.state(request.matches[1]); });
    get("/api/runs/(\\d{1,9})/step", [this](const httplib::Request& request) { return runs.result(request.matches[1]); });
    server.Delete("/api/runs/(\\d{1,9})", [this](const httplib::Request& request, httplib::Response& response) {
      put(runs.cancel(request.matches[1]), response);
    });
  }

  using Service = std::function<Answer(const httplib::Request&)>;

  void get(const std::string& path, Service service) {
    server.Get(path, [service = std::move(service)](const httplib::Request& request, httplib::Response& response) {
      put(service(request), response);
    });
  }

  void post(const std::string& path, Service service) {
    server.Post(path, [service = std::move(service)](const httplib::Request& request, httplib::Response& response) {
      const bool json = request.get_header_value("Content-Type").starts_with("application/json");
      put(json ? service(request) : error_answer(kUnsupportedType, "a request is application/json"), response);
    });
  }

  LimitsService limits;
  RunService runs;
  httplib::Server server;
  std::uint16_t port = 0;
};

PageServer::PageServer(const PageServerOptions& options) : state_{std::make_unique<State>(options)} {}

PageServer::~PageServer() = default;

std::uint16_t PageServer::port() const { return state_->port; }

void PageServer::run(const std::atomic<bool>& stop) {
  constexpr std::chrono::milliseconds kLook{50};
  std::atomic<bool> ended{false};
  std::jthread listener{[this, &ended] {
    state_->server.listen_after_bind();
    ended = true;
  }};
  while (!stop.load(std::memory_order_relaxed) && !ended) std::this_thread::sleep_for(kLook);
  while (!ended) {  // a stop before the listener has begun would be lost
    state_->server.stop();
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace traingraph::scenarios::serve
