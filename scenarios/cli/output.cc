#include "scenarios/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "scenarios/cli/exit_code.h"

namespace traingraph::scenarios::cli {
namespace {

/// 0, or the errno of the write that failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view what, int error) {
  throw EnvironmentError{fmt::format("{}: {}: {}", file.string(), what, std::strerror(error))};
}

}  // namespace

void write_stdout(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw ReaderGone{};
  if (error != 0) throw EnvironmentError{fmt::format("cannot write to stdout: {}", std::strerror(error))};
}

void write_stderr(std::string_view text) { static_cast<void>(write_all(STDERR_FILENO, text)); }

namespace {

/// What stands under the name already, or that nothing does.
void check_name(const std::filesystem::path& name, bool force) {
  std::error_code ec;
  const auto status = std::filesystem::symlink_status(name, ec);
  if (ec && ec.value() != ENOENT && ec.value() != ENOTDIR) fail(name, "cannot look at it", ec.value());
  if (std::filesystem::is_directory(status)) {
    throw UsageError{fmt::format("{}: is a directory; name a file in it", name.string())};
  }
  if (std::filesystem::is_symlink(status)) {
    throw UsageError{fmt::format("{}: is a symbolic link; name the file itself", name.string())};
  }
  if (std::filesystem::exists(status)) {
    if (!std::filesystem::is_regular_file(status)) {
      throw UsageError{fmt::format("{}: is not a regular file; results are written beside it and renamed", name.string())};
    }
    if (!force) throw UsageError{fmt::format("{}: exists already; --force replaces it", name.string())};
  }
  const std::filesystem::path folder = name.has_parent_path() ? name.parent_path() : std::filesystem::path{"."};
  if (!std::filesystem::is_directory(folder, ec)) {
    throw UsageError{fmt::format("{}: there is no folder '{}'", name.string(), folder.string())};
  }
}

/// Whether `file` is what `fd` is open on: a run that ended meanwhile may have renamed or removed it.
bool is_open_on(const std::filesystem::path& file, int fd) {
  struct stat named {
  }, opened{};
  return ::lstat(file.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

/// Opens and locks a file that no other run writes to. The lock belongs to the open file and ends with it.
int open_locked(const std::filesystem::path& part) {
  for (;;) {
    const int fd = ::open(part.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) fail(part, "cannot create it", errno);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    const int error = ::fcntl(fd, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
    if (error == EAGAIN || error == EACCES) {
      ::close(fd);
      throw UsageError{fmt::format("{}: another run is writing to it", part.string())};
    }
    // Some file systems have no locks; there two runs are told apart by nothing.
    if (is_open_on(part, fd)) return fd;
    ::close(fd);
  }
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path name, OutputPolicy policy)
    : name_{std::move(name)}, part_{name_.string() + ".part"}, policy_{policy} {
  check_name(name_, policy_.force);
  fd_ = open_locked(part_);
  if (!policy_.keep_partial) on_signal_.emplace(part_.string());
  if (::ftruncate(fd_, 0) != 0) {
    const int error = errno;
    ::close(fd_);
    fail(part_, "cannot empty it", error);
  }
}

OutputFile::~OutputFile() {
  struct stat held {};
  const bool keep = policy_.keep_partial && ::fstat(fd_, &held) == 0 && held.st_size > 0;
  if (!keep && is_open_on(part_, fd_)) ::unlink(part_.c_str());
  ::close(fd_);
}

void OutputFile::write(std::string_view text) {
  if (::ftruncate(fd_, 0) != 0 || ::lseek(fd_, 0, SEEK_SET) != 0) fail(part_, "cannot empty it", errno);
  if (const int error = write_all(fd_, text); error != 0) fail(part_, "cannot write", error);
}

void OutputFile::commit() {
  // On the disk before it has its name: a power failure must not leave an empty file that looks complete.
  if (::fsync(fd_) != 0 && errno != EINVAL) fail(part_, "cannot write it to the disk", errno);
  if (policy_.force) {
    if (::rename(part_.c_str(), name_.c_str()) != 0) fail(name_, "cannot rename the finished file to it", errno);
  } else if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, name_.c_str(), RENAME_NOREPLACE) != 0) {
    const int error = errno;
    if (error == EEXIST)
      throw UsageError{fmt::format("{}: has appeared during the run; --force replaces it", name_.string())};
    // Some file systems cannot rename without replacing; that it did not exist was checked before the run.
    if (error != EINVAL && error != ENOSYS) fail(name_, "cannot rename the finished file to it", error);
    if (::rename(part_.c_str(), name_.c_str()) != 0) fail(name_, "cannot rename the finished file to it", errno);
  }
}

}  // namespace traingraph::scenarios::cli
