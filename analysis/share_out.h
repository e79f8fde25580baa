// share_out: independent pieces of work in several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/error.h"

namespace traingraph::analysis {

/// Calls work(thread, i) for every i < n, in `threads` threads, this one included; each takes the next piece when it is done
/// with one. Rethrows the first failure, after the others have finished what they had begun. Throws sim::Cancelled when
/// `cancel` is set before the last piece is taken.
template <class Work>
void share_out(std::size_t n, std::uint32_t threads, const std::atomic<bool>* cancel, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto run = [&](std::size_t thread) {
    try {
      for (std::size_t i = next++; i < n; i = next++) {
        if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) throw sim::Cancelled{};
        work(thread, i);
      }
    } catch (...) {
      const std::lock_guard lock{failing};
      if (!failure) failure = std::current_exception();
      next = n;
    }
  };
  {
    std::vector<std::jthread> crew;
    for (std::size_t t = 1; t < std::min<std::size_t>(threads, n); ++t) crew.emplace_back(run, t);
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace traingraph::analysis
