// MpiQueue: pieces of work handed out to the ranks of an MPI job as they become free. The only file that knows MPI is
// mpi_queue.cc; a program built without it says so where MPI would be needed.
//
// Rank 0 hands out numbers and takes lines; every other rank asks for a number, works, and sends its line back. A rank whose
// work throws ends the whole job; so does MPI itself when a rank dies.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace traingraph::scenarios::cli {

/// Whether mpirun, srun or the like has started this process as one of several.
[[nodiscard]] bool started_by_mpi();

class MpiQueue {
 public:
  /// Initializes MPI; once in a process. Throws UsageError when the program was built without MPI.
  MpiQueue();
  MpiQueue(const MpiQueue&) = delete;
  MpiQueue& operator=(const MpiQueue&) = delete;
  ~MpiQueue();  ///< ends the job for all ranks when it is left by an exception

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

  /// Rank 0: hands out `pieces` in order and calls `deliver` with every answer, as they come; with one rank it does the work
  /// itself. Throws sim::Cancelled when `cancel` is set.
  void hand_out(const std::vector<std::size_t>& pieces, const std::function<std::string(std::size_t)>& work,
                const std::function<void(const std::string&)>& deliver, const std::atomic<bool>& cancel);
  /// The other ranks: works until there is nothing left.
  void work_off(const std::function<std::string(std::size_t)>& work);
  /// All ranks: the work is done and nothing failed.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traingraph::scenarios::cli
