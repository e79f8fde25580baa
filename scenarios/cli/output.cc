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

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_{fd} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

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

void prove_writable(const std::filesystem::path& name, OutputPolicy policy) {
  const OutputFile proof{name, {.force = policy.force, .keep_partial = false}};
}

OutputFile::OutputFile(std::filesystem::path name, OutputPolicy policy)
    : name_{std::move(name)}, part_{name_.string() + ".part"}, policy_{policy} {
  std::error_code ec;
  const auto status = std::filesystem::status(name_, ec);
  if (ec && ec.value() != ENOENT && ec.value() != ENOTDIR) fail(name_, "cannot look at it", ec.value());
  if (std::filesystem::is_directory(status)) {
    throw UsageError{fmt::format("{}: is a directory; name a file in it", name_.string())};
  }
  if (std::filesystem::exists(status)) {
    if (!std::filesystem::is_regular_file(status)) {
      throw UsageError{fmt::format("{}: is not a regular file; results are written beside it and renamed", name_.string())};
    }
    if (!policy_.force) throw UsageError{fmt::format("{}: exists already; --force replaces it", name_.string())};
  }
  const std::filesystem::path folder = name_.has_parent_path() ? name_.parent_path() : std::filesystem::path{"."};
  if (!std::filesystem::is_directory(folder, ec)) {
    throw UsageError{fmt::format("{}: there is no folder '{}'", name_.string(), folder.string())};
  }
  const Descriptor fd{::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (fd.get() < 0) fail(part_, "cannot create it", errno);
}

OutputFile::~OutputFile() {
  if (!committed_ && !policy_.keep_partial) ::unlink(part_.c_str());
}

void OutputFile::write(std::string_view text) {
  const Descriptor fd{::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (fd.get() < 0) fail(part_, "cannot open it", errno);
  if (const int error = write_all(fd.get(), text); error != 0) fail(part_, "cannot write", error);
}

void OutputFile::commit() {
  // On the disk before it has its name: a power failure must not leave an empty file that looks complete.
  {
    const Descriptor fd{::open(part_.c_str(), O_RDONLY | O_CLOEXEC)};
    if (fd.get() < 0) fail(part_, "cannot open it", errno);
    if (::fsync(fd.get()) != 0 && errno != EINVAL) fail(part_, "cannot write it to the disk", errno);
  }
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
  committed_ = true;
}

}  // namespace traingraph::scenarios::cli
