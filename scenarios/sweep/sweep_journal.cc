#include "scenarios/sweep/sweep_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "sim/error.h"

namespace traingraph::scenarios {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const char* what) {
  throw std::system_error{errno, std::generic_category(), fmt::format("{}: {}", file.string(), what)};
}

std::string head(std::uint64_t digest, std::size_t points) {
  return fmt::format("traingraph sweep {:016x} of {} points", digest, points);
}

}  // namespace

SweepJournal::SweepJournal(std::filesystem::path file, std::uint64_t digest, std::size_t points, bool anew)
    : file_{std::move(file)}, descriptor_{::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)} {
  if (descriptor_.value < 0) fail(file_, "cannot be opened");
  if (::flock(descriptor_.value, LOCK_EX | LOCK_NB) != 0) fail(file_, "another process runs this sweep");
  if (anew && ::ftruncate(descriptor_.value, 0) != 0) fail(file_, "cannot be emptied");
  read(digest, points);
}

SweepJournal::Descriptor::~Descriptor() {
  if (value >= 0) ::close(value);
}

void SweepJournal::read(std::uint64_t digest, std::size_t points) {
  std::ifstream in{file_};
  std::string line;
  off_t good = 0;  // bytes of whole lines
  std::set<std::size_t> seen;
  while (std::getline(in, line) && !in.eof()) {  // a last line without its end is not whole
    if (good == 0) {
      if (line != head(digest, points)) {
        throw sim::InputError{fmt::format(
            "{}: belongs to another sweep, or to this one before it was changed; --force begins anew", file_.string())};
      }
    } else {
      std::optional<SweepRow> row = row_of(line, points);
      if (!row) break;
      if (seen.insert(row->point).second) found_.push_back(*std::move(row));
    }
    good += static_cast<off_t>(line.size()) + 1;
  }
  if (::ftruncate(descriptor_.value, good) != 0 || ::lseek(descriptor_.value, good, SEEK_SET) < 0)
    fail(file_, "cannot be cut");
  if (good == 0) write(head(digest, points));
}

void SweepJournal::write(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(descriptor_.value, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) fail(file_, "cannot be written");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  if (::fdatasync(descriptor_.value) != 0) fail(file_, "cannot be written");
}

void SweepJournal::append(const SweepRow& row) { write(to_line(row)); }

void SweepJournal::remove() { std::filesystem::remove(file_); }

}  // namespace traingraph::scenarios
