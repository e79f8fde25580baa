#include "scenarios/serve/run_service.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "scenarios/serve/request_json.h"

namespace traingraph::scenarios::serve {
namespace {

constexpr std::size_t kMostOverrides = 100;

StepRequest read(const std::string& text) {
  const nlohmann::ordered_json json = parse_request(text, {"yaml", "set", "sensitivity", "what_if"});
  StepRequest request{text_of(json, "yaml", ""), texts_of(json, "set", kMostOverrides), flag_of(json, "sensitivity"), {}};
  if (const auto found = json.find("what_if"); found != json.end()) {
    const bool complete = found->is_object() && found->contains("factor") && (*found)["factor"].is_number();
    if (!complete) throw sim::InputError{"what_if: expected a resource and a factor"};
    request.what_if = WhatIf{text_of(*found, "resource", ""), (*found)["factor"].get<double>()};
  }
  return request;
}

}  // namespace

RunService::RunService(std::string version, std::uint32_t threads)
    : version_{std::move(version)}, threads_{threads}, worker_{[this](const std::stop_token& stop) { work(stop); }} {}

RunService::~RunService() {
  worker_.request_stop();
  const std::lock_guard lock{mutex_};
  if (running_) running_->cancel = true;
}

Answer RunService::check(const std::string& request) { return {200, "application/json", checked_size(read(request))}; }

Answer RunService::start(const std::string& text) {
  auto run = std::make_shared<Run>();
  run->request = read(text);
  const std::lock_guard lock{mutex_};
  if (waiting_.size() >= kMostWaiting)
    return error_answer(kTooBusy, "too many runs are waiting; cancel one, or ask again later");
  const std::string id = std::to_string(next_++);
  runs_[id] = run;
  order_.push_back(id);
  waiting_.push_back(std::move(run));
  if (order_.size() > kMostKept + kMostWaiting) {  // the oldest is done: runs end in the order of their ids
    runs_.erase(order_.front());
    order_.pop_front();
  }
  wake_.notify_one();
  return json_answer({{"id", id}});
}

std::shared_ptr<RunService::Run> RunService::find(const std::string& id) {
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : found->second;
}

Answer RunService::state(const std::string& id) {
  static constexpr const char* kNames[] = {"waiting", "running", "done", "failed", "cancelled"};
  const std::lock_guard lock{mutex_};
  const std::shared_ptr<Run> run = find(id);
  if (!run) return error_answer(kNotFound, "there is no such run (any more)");
  nlohmann::ordered_json json{{"state", kNames[static_cast<std::size_t>(run->state)]}, {"share", run->share.load()}};
  if (run->state == State::failed) json["error"] = run->result;
  return json_answer(json);
}

Answer RunService::result(const std::string& id) {
  const std::lock_guard lock{mutex_};
  const std::shared_ptr<Run> run = find(id);
  if (!run) return error_answer(kNotFound, "there is no such run (any more)");
  if (run->state != State::done) return error_answer(kConflict, "the run is not done");
  return {200, "application/json", run->result};
}

Answer RunService::cancel(const std::string& id) {
  const std::lock_guard lock{mutex_};
  const std::shared_ptr<Run> run = find(id);
  if (!run) return error_answer(kNotFound, "there is no such run (any more)");
  run->cancel = true;
  if (run->state == State::waiting) {
    run->state = State::cancelled;
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), run));
  }
  return json_answer({{"id", id}});
}

void RunService::work(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock{mutex_};
    wake_.wait(lock, stop, [this] { return !waiting_.empty(); });
    if (stop.stop_requested()) return;
    running_ = std::move(waiting_.front());
    waiting_.pop_front();
    running_->state = State::running;
    Run& run = *running_;
    lock.unlock();
    perform(run);
    lock.lock();
    running_.reset();
  }
}

void RunService::perform(Run& run) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + kLongest;
  std::atomic<bool> late{false};
  const auto watch = [&] {
    if (Clock::now() < end) return;
    late = true;
    run.cancel = true;
  };
  const StepHooks hooks{.cancel = &run.cancel,
                        .progress =
                            [&](const sim::Progress& p) {
                              watch();
                              const auto total = static_cast<double>(std::max<std::uint64_t>(1, p.operations_total));
                              run.share = static_cast<double>(p.operations_done) / total;
                            },
                        .rerun_progress =
                            [&](std::size_t done, std::size_t total) {
                              watch();
                              run.share = static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(1, total));
                            },
                        .threads = threads_,
                        .version = version_};
  State state = State::failed;
  std::string result;
  try {
    result = run_step(run.request, hooks);
    state = State::done;
  } catch (const sim::Cancelled&) {
    state = late ? State::failed : State::cancelled;
    result = "the run took longer than ten minutes; longer ones belong on the command line";
  } catch (const sim::InputError& e) {
    result = e.what();
  } catch (const std::bad_alloc&) {
    result = "out of memory";
  } catch (...) {  // what went wrong inside may name files of this machine
    result = "internal error; please report the scenario that led to it";
  }
  const std::lock_guard lock{mutex_};
  run.state = state;
  run.result = std::move(result);
}

}  // namespace traingraph::scenarios::serve
