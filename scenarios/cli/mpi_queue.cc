#include "scenarios/cli/mpi_queue.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "scenarios/cli/exit_code.h"
#include "sim/error.h"

#ifdef TRAINGRAPH_MPI
#include <mpi.h>
#endif

namespace traingraph::scenarios::cli {

bool started_by_mpi() {
  // What Open MPI, MPICH and Slurm's PMI set for every rank.
  constexpr std::array<const char*, 3> kSizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  for (const char* name : kSizes) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

#ifdef TRAINGRAPH_MPI

namespace {

constexpr int kAnswer = 1, kPiece = 2;
constexpr std::int64_t kNothingLeft = -1;
constexpr std::chrono::microseconds kPause{200};

void send_line(const std::string& line, int to) {
  MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, to, kAnswer, MPI_COMM_WORLD);
}

/// The next answer of any rank, and which one; an empty one only asks for work.
std::pair<std::string, int> next_answer(const std::atomic<bool>& cancel) {
  MPI_Status status;
  for (int there = 0; there == 0;) {
    if (cancel.load(std::memory_order_relaxed)) throw sim::Cancelled{};
    MPI_Iprobe(MPI_ANY_SOURCE, kAnswer, MPI_COMM_WORLD, &there, &status);
    if (there == 0) std::this_thread::sleep_for(kPause);
  }
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string line(static_cast<std::size_t>(length), '\0');
  MPI_Recv(line.data(), length, MPI_CHAR, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return {std::move(line), status.MPI_SOURCE};
}

void send_piece(std::int64_t piece, int to) { MPI_Send(&piece, 1, MPI_INT64_T, to, kPiece, MPI_COMM_WORLD); }

}  // namespace

struct MpiQueue::State {
  int rank = 0;
  int size = 1;
  bool finished = false;
};

MpiQueue::MpiQueue() : state_{std::make_unique<State>()} {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &state_->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &state_->size);
}

MpiQueue::~MpiQueue() {
  if (!state_->finished) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(ExitCode::failed));
}

int MpiQueue::rank() const { return state_->rank; }
int MpiQueue::size() const { return state_->size; }

void MpiQueue::hand_out(const std::vector<std::size_t>& pieces, const std::function<std::string(std::size_t)>& work,
                        const std::function<void(const std::string&)>& deliver, const std::atomic<bool>& cancel) {
  if (size() == 1) {
    for (const std::size_t piece : pieces) {
      if (cancel.load(std::memory_order_relaxed)) throw sim::Cancelled{};
      deliver(work(piece));
    }
    return;
  }
  std::size_t next = 0;
  for (int working = size() - 1; working > 0;) {
    const auto [line, from] = next_answer(cancel);
    if (!line.empty()) deliver(line);
    const bool more = next < pieces.size();
    send_piece(more ? static_cast<std::int64_t>(pieces[next++]) : kNothingLeft, from);
    if (!more) --working;
  }
}

void MpiQueue::work_off(const std::function<std::string(std::size_t)>& work) {
  send_line("", 0);
  while (true) {
    std::int64_t piece = kNothingLeft;
    MPI_Recv(&piece, 1, MPI_INT64_T, 0, kPiece, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (piece == kNothingLeft) return;
    send_line(work(static_cast<std::size_t>(piece)), 0);
  }
}

void MpiQueue::finish() {
  MPI_Finalize();
  state_->finished = true;
}

#else

struct MpiQueue::State {};
MpiQueue::MpiQueue() {
  throw UsageError{
      "sweep: started by MPI as one of several, but this program was built without it (install libopenmpi-dev, configure "
      "again)"};
}
MpiQueue::~MpiQueue() = default;
int MpiQueue::rank() const { return 0; }
int MpiQueue::size() const { return 1; }
void MpiQueue::hand_out(const std::vector<std::size_t>&, const std::function<std::string(std::size_t)>&,
                        const std::function<void(const std::string&)>&, const std::atomic<bool>&) {}
void MpiQueue::work_off(const std::function<std::string(std::size_t)>&) {}
void MpiQueue::finish() {}

#endif

}  // namespace traingraph::scenarios::cli
