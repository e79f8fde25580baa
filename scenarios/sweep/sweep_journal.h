// SweepJournal: the finished points of a sweep that is not yet complete, one line each, on disk as soon as they are
// finished.
//
// A line that a dying process left half-written is cut off when the journal is opened again; its point is run again. A
// journal belongs to one sweep (its digest) and to one process at a time (a lock).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "scenarios/sweep/sweep_table.h"

namespace traingraph::scenarios {

class SweepJournal {
 public:
  /// Opens or begins the journal. Throws sim::InputError when it belongs to another sweep (`anew`: it is begun again), and
  /// std::system_error when the disk refuses or another process has it open.
  SweepJournal(std::filesystem::path file, std::uint64_t digest, std::size_t points, bool anew);
  SweepJournal(const SweepJournal&) = delete;
  SweepJournal& operator=(const SweepJournal&) = delete;

  /// Finished before this process began.
  [[nodiscard]] const std::vector<SweepRow>& found() const { return found_; }
  /// Returns when the line is on disk.
  void append(const SweepRow& row);
  /// The sweep is complete and its table written.
  void remove();

 private:
  void write(const std::string& line);
  void read(std::uint64_t digest, std::size_t points);

  /// An open file, whose lock ends with it.
  struct Descriptor {
    explicit Descriptor(int number) : value{number} {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
    int value;
  };

  std::filesystem::path file_;
  Descriptor descriptor_;
  std::vector<SweepRow> found_;
};

}  // namespace traingraph::scenarios
