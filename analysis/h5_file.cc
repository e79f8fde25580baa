#include "analysis/h5_file.h"

#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/error.h"

namespace traingraph::analysis {
namespace {

constexpr unsigned kDeflateLevel = 4;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::uint64_t kMaxChunkRows = 16384;

/// The innermost message of HDF5's error stack: the one that names the cause.
std::string library_message() {
  std::string message;
  const auto visit = [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &message);
  // Of a failed system call the library tells much over several lines; the cause is what the system says.
  constexpr std::string_view kSystem = "error message = '";
  if (const std::size_t at = message.find(kSystem); at != std::string::npos) {
    const std::size_t begin = at + kSystem.size();
    message = message.substr(begin, message.find('\'', begin) - begin);
  }
  return message.empty() ? "unknown HDF5 error" : message;
}

[[noreturn]] void fail(const std::string& file, const std::string& doing) {
  throw FileError{"cannot write '" + file + "': " + doing + ": " + library_message()};
}

/// Owns one HDF5 handle.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close closer) : id_{id}, close_{closer} {}
  Handle(Handle&& other) noexcept : id_{std::exchange(other.id_, H5I_INVALID_HID)}, close_{other.close_} {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  [[nodiscard]] hid_t get() const { return id_; }
  /// Closes now; false when the library reports an error, as a full disk on the last flush does.
  [[nodiscard]] bool close() { return id_ < 0 || close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

std::size_t size_of(const Column& column) {
  switch (column.type) {
    case ColumnType::int32:
    case ColumnType::uint32:
      return 4;
    case ColumnType::int64:
    case ColumnType::uint64:
    case ColumnType::float64:
      return 8;
    case ColumnType::text:
      return column.width;
  }
  SIM_ASSERT(false, "every column type has a size");
}

Handle text_type(std::size_t width) {
  Handle type{H5Tcopy(H5T_C_S1), H5Tclose};
  H5Tset_size(type.get(), width);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return type;
}

/// Little-endian types on disk, whatever the machine; the native ones in memory.
Handle type_of(const Column& column, bool on_disk) {
  switch (column.type) {
    case ColumnType::int32:
      return {H5Tcopy(on_disk ? H5T_STD_I32LE : H5T_NATIVE_INT32), H5Tclose};
    case ColumnType::uint32:
      return {H5Tcopy(on_disk ? H5T_STD_U32LE : H5T_NATIVE_UINT32), H5Tclose};
    case ColumnType::int64:
      return {H5Tcopy(on_disk ? H5T_STD_I64LE : H5T_NATIVE_INT64), H5Tclose};
    case ColumnType::uint64:
      return {H5Tcopy(on_disk ? H5T_STD_U64LE : H5T_NATIVE_UINT64), H5Tclose};
    case ColumnType::float64:
      return {H5Tcopy(on_disk ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE), H5Tclose};
    case ColumnType::text:
      return text_type(column.width);
  }
  SIM_ASSERT(false, "every column type has an HDF5 type");
}

Handle compound(const std::vector<Column>& columns, std::size_t row_size, bool on_disk) {
  Handle type{H5Tcreate(H5T_COMPOUND, row_size), H5Tclose};
  std::size_t offset = 0;
  for (const Column& column : columns) {
    H5Tinsert(type.get(), column.name.c_str(), offset, type_of(column, on_disk).get());
    offset += size_of(column);
  }
  return type;
}

/// Creation properties of every data set of ours: no times; chunked and compressed when there are chunks.
Handle dataset_properties(std::span<const hsize_t> chunk) {
  Handle properties{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  H5Pset_obj_track_times(properties.get(), false);
  if (!chunk.empty()) {
    H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
    H5Pset_shuffle(properties.get());
    H5Pset_deflate(properties.get(), kDeflateLevel);
  }
  return properties;
}

Handle make_intermediate_groups() {
  Handle properties{H5Pcreate(H5P_LINK_CREATE), H5Pclose};
  H5Pset_create_intermediate_group(properties.get(), 1);
  return properties;
}

}  // namespace

struct H5Table::State {
  std::string file;
  std::string path;
  std::vector<Column> columns;
  std::size_t row_size = 0;
  std::uint64_t chunk_rows = 0;
  Handle dataset;
  Handle memory_type;
  std::vector<std::byte> buffer;
  std::size_t column = 0;      // the next to be put
  std::uint64_t buffered = 0;  // complete rows in the buffer
  std::uint64_t written = 0;   // rows in the file
};

H5Table::H5Table(std::unique_ptr<State> state) : state_{std::move(state)} {}
H5Table::H5Table(H5Table&&) noexcept = default;
H5Table& H5Table::operator=(H5Table&&) noexcept = default;
H5Table::~H5Table() = default;

void H5Table::put_raw(ColumnType type, const void* value, std::size_t size) {
  State& s = *state_;
  SIM_ASSERT(s.column < s.columns.size(), "a row has no more values than columns");
  const Column& column = s.columns[s.column];
  SIM_ASSERT(column.type == type, "a value has its column's type");
  const std::size_t room = size_of(column);
  SIM_ASSERT(size <= room, "a text fits its column");
  const std::size_t at = s.buffer.size();
  s.buffer.resize(at + room);  // zeros pad a text
  if (size > 0) std::memcpy(s.buffer.data() + at, value, size);
  ++s.column;
}

void H5Table::put(std::int32_t value) { put_raw(ColumnType::int32, &value, sizeof value); }
void H5Table::put(std::int64_t value) { put_raw(ColumnType::int64, &value, sizeof value); }
void H5Table::put(std::uint32_t value) { put_raw(ColumnType::uint32, &value, sizeof value); }
void H5Table::put(std::uint64_t value) { put_raw(ColumnType::uint64, &value, sizeof value); }
void H5Table::put(double value) { put_raw(ColumnType::float64, &value, sizeof value); }
void H5Table::put(std::string_view value) { put_raw(ColumnType::text, value.data(), value.size()); }

void H5Table::end_row() {
  State& s = *state_;
  SIM_ASSERT(s.column == s.columns.size(), "a row has a value for every column");
  s.column = 0;
  if (++s.buffered == s.chunk_rows) flush();
}

std::uint64_t H5Table::rows() const { return state_->written + state_->buffered; }

void H5Table::flush() {
  State& s = *state_;
  if (s.buffered == 0) return;
  const hsize_t total = s.written + s.buffered, start = s.written, count = s.buffered;
  if (H5Dset_extent(s.dataset.get(), &total) < 0) fail(s.file, s.path);
  const Handle in_file{H5Dget_space(s.dataset.get()), H5Sclose};
  const Handle in_memory{H5Screate_simple(1, &count, nullptr), H5Sclose};
  if (H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr) < 0 ||
      H5Dwrite(s.dataset.get(), s.memory_type.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, s.buffer.data()) < 0) {
    fail(s.file, s.path);
  }
  s.written = total;
  s.buffered = 0;
  s.buffer.clear();
}

void H5Table::finish() {
  flush();
  if (!state_->dataset.close()) fail(state_->file, state_->path);
}

struct H5File::State {
  std::filesystem::path path;
  std::filesystem::path part;
  bool keep_partial = false;
  bool committed = false;
  Handle file;

  [[nodiscard]] std::string name() const { return path.string(); }

  Handle create(const std::string& object, hid_t type, hid_t space, hid_t properties) const {
    const Handle links = make_intermediate_groups();
    Handle dataset{H5Dcreate2(file.get(), object.c_str(), type, space, links.get(), properties, H5P_DEFAULT), H5Dclose};
    if (!dataset.valid()) fail(name(), object);
    return dataset;
  }

  void scalar(const std::string& object, hid_t on_disk, hid_t in_memory, const void* value) const {
    const Handle space{H5Screate(H5S_SCALAR), H5Sclose};
    Handle dataset = create(object, on_disk, space.get(), dataset_properties({}).get());
    if (H5Dwrite(dataset.get(), in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0) fail(name(), object);
  }

  void attribute(const std::string& object, const std::string& what, hid_t on_disk, hid_t in_memory,
                 const void* value) const {
    const Handle space{H5Screate(H5S_SCALAR), H5Sclose};
    const Handle attribute{H5Acreate_by_name(file.get(), object.c_str(), what.c_str(), on_disk, space.get(), H5P_DEFAULT,
                                             H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose};
    if (!attribute.valid() || H5Awrite(attribute.get(), in_memory, value) < 0) fail(name(), object + "@" + what);
  }
};

H5File::H5File(std::filesystem::path path, bool keep_partial) : state_{std::make_unique<State>()} {
  State& s = *state_;
  s.path = std::move(path);
  s.part = s.path.string() + ".part";
  s.keep_partial = keep_partial;
  H5dont_atexit();  // every handle is closed here; what a full disk kept from being written must not be tried again at exit
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors become exceptions, not text on stderr
  const Handle creation{H5Pcreate(H5P_FILE_CREATE), H5Pclose};
  H5Pset_obj_track_times(creation.get(), false);
  // Whoever named the file keeps others away from it (scenarios/cli/output.h), by a lock that some file systems take for one
  // of the library's.
  const Handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  H5Pset_file_locking(access.get(), false, true);
  s.file = Handle{H5Fcreate(s.part.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose};
  if (!s.file.valid()) fail(s.name(), "creating '" + s.part.string() + "'");
}

H5File::~H5File() {
  State& s = *state_;
  if (s.committed) return;
  static_cast<void>(s.file.close());  // given up: what did not reach the disk is no loss
  std::error_code ignored;            // a destructor has nobody to tell
  if (!s.keep_partial) std::filesystem::remove(s.part, ignored);
}

void H5File::group(const std::string& path) {
  const Handle links = make_intermediate_groups();
  const Handle properties{H5Pcreate(H5P_GROUP_CREATE), H5Pclose};
  H5Pset_obj_track_times(properties.get(), false);
  const Handle made{H5Gcreate2(state_->file.get(), path.c_str(), links.get(), properties.get(), H5P_DEFAULT), H5Gclose};
  if (!made.valid()) fail(state_->name(), path);
}

void H5File::scalar(const std::string& path, double value) {
  state_->scalar(path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void H5File::scalar(const std::string& path, std::int64_t value) {
  state_->scalar(path, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void H5File::scalar(const std::string& path, std::uint64_t value) {
  state_->scalar(path, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

void H5File::scalar(const std::string& path, const std::string& value) {
  const Handle type = text_type(std::max<std::size_t>(1, value.size()));
  state_->scalar(path, type.get(), type.get(), value.c_str());
}

void H5File::attribute(const std::string& object, const std::string& name, const std::string& value) {
  // Variable length: an object's header holds at most 64 KiB, and a scenario may be longer.
  const Handle type = text_type(H5T_VARIABLE);
  const char* text = value.c_str();
  state_->attribute(object, name, type.get(), type.get(), &text);
}

void H5File::attribute(const std::string& object, const std::string& name, double value) {
  state_->attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void H5File::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  state_->attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

H5Table H5File::table(const std::string& path, std::vector<Column> columns, std::uint64_t expected_rows) {
  auto t = std::make_unique<H5Table::State>();
  t->file = state_->name();
  t->path = path;
  for (Column& column : columns) {
    if (column.type == ColumnType::text) column.width = std::max<std::size_t>(1, column.width);
    t->row_size += size_of(column);
  }
  t->columns = std::move(columns);
  t->chunk_rows = std::clamp<std::uint64_t>(kChunkBytes / t->row_size, 1, kMaxChunkRows);
  if (expected_rows > 0) t->chunk_rows = std::min(t->chunk_rows, expected_rows);
  t->memory_type = compound(t->columns, t->row_size, false);
  const Handle disk_type = compound(t->columns, t->row_size, true);
  const hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = t->chunk_rows;
  const Handle space{H5Screate_simple(1, &none, &unlimited), H5Sclose};
  t->dataset = state_->create(path, disk_type.get(), space.get(), dataset_properties({&chunk, 1}).get());
  t->buffer.reserve(t->row_size * t->chunk_rows);
  return H5Table{std::move(t)};
}

void H5File::matrix(const std::string& path, std::span<const float> values, std::uint64_t rows, std::uint64_t columns) {
  SIM_ASSERT(values.size() == rows * columns, "a matrix has rows x columns values");
  const hsize_t size[2] = {rows, columns};
  const Handle space{H5Screate_simple(2, size, nullptr), H5Sclose};
  std::vector<hsize_t> chunk;
  if (!values.empty()) {
    const std::uint64_t fit = std::max<std::uint64_t>(1, kChunkBytes / (columns * sizeof(float)));
    chunk = {std::min(rows, fit), columns};
  }
  const Handle dataset = state_->create(path, H5T_IEEE_F32LE, space.get(), dataset_properties(chunk).get());
  if (values.empty()) return;
  if (H5Dwrite(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail(state_->name(), path);
}

void H5File::commit() {
  State& s = *state_;
  SIM_ASSERT(H5Fget_obj_count(s.file.get(), H5F_OBJ_ALL | H5F_OBJ_LOCAL) == 1, "every table is finished before the file is");
  if (H5Fflush(s.file.get(), H5F_SCOPE_GLOBAL) < 0 || !s.file.close()) fail(s.name(), "closing");
  std::error_code error;
  std::filesystem::rename(s.part, s.path, error);
  if (error) throw FileError{"cannot write '" + s.name() + "': renaming '" + s.part.string() + "': " + error.message()};
  s.committed = true;
}

const std::filesystem::path& H5File::path() const { return state_->path; }

}  // namespace traingraph::analysis
