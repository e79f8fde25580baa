// H5File: the one door to HDF5's C API. A file is written to NAME.part and appears under NAME only by commit(); a file that
// is given up (an exception, an early return) leaves nothing, or NAME.part when `keep_partial` is set.
//
// Same calls, same bytes: object times are off, nothing of the machine or the clock is stored.
//
// Tables are rows of typed columns (an HDF5 compound), extendable, chunked, shuffled and deflated: they are written as rows
// come, so a table need not fit in memory. Strings in tables have a fixed width in bytes (UTF-8, null-padded); a longer
// string is an InternalError, never cut. Cost per row: a copy into the chunk's buffer; one HDF5 call per chunk.
//
// Errors of the disk or the library throw FileError naming the file, the thing written and HDF5's own message. Not
// thread-safe per file; several files may be written by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace traingraph::analysis {

/// The environment failed: disk, permission, space (exit code 4 of the program).
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class ColumnType : std::uint8_t { int32, int64, uint32, uint64, float64, text };

struct Column {
  std::string name;
  ColumnType type = ColumnType::int64;
  std::size_t width = 0;  ///< bytes of a text column
};

class H5File;

/// One table being written. Rows are put column by column, in order: `t.put(1U); t.put("name"); t.end_row();`
class H5Table {
 public:
  H5Table(H5Table&&) noexcept;
  H5Table& operator=(H5Table&&) noexcept;
  ~H5Table();  ///< closes; rows that were not flushed by finish() are lost

  void put(std::int32_t value);
  void put(std::int64_t value);
  void put(std::uint32_t value);
  void put(std::uint64_t value);
  void put(double value);
  void put(std::string_view value);
  void end_row();
  [[nodiscard]] std::uint64_t rows() const;

  /// Writes what is buffered and closes the table.
  void finish();

 private:
  friend class H5File;
  struct State;
  explicit H5Table(std::unique_ptr<State> state);
  void put_raw(ColumnType type, const void* value, std::size_t size);
  void flush();
  std::unique_ptr<State> state_;
};

class H5File {
 public:
  H5File(std::filesystem::path path, bool keep_partial);
  H5File(const H5File&) = delete;
  H5File& operator=(const H5File&) = delete;
  ~H5File();

  /// Groups on the way to an object are made as needed.
  void group(const std::string& path);

  void scalar(const std::string& path, double value);
  void scalar(const std::string& path, std::int64_t value);
  void scalar(const std::string& path, std::uint64_t value);
  void scalar(const std::string& path, const std::string& value);

  /// Attributes of an object that exists ("/" is the root).
  void attribute(const std::string& object, const std::string& name, const std::string& value);
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, std::int64_t value);

  /// `expected_rows` sizes the chunks of small tables; 0: unknown.
  [[nodiscard]] H5Table table(const std::string& path, std::vector<Column> columns, std::uint64_t expected_rows = 0);

  /// A row-major matrix of float32, chunked by rows and compressed.
  void matrix(const std::string& path, std::span<const float> values, std::uint64_t rows, std::uint64_t columns);

  /// Closes the file and gives it its name. REQUIRES: every table is finished.
  void commit();

  [[nodiscard]] const std::filesystem::path& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traingraph::analysis
