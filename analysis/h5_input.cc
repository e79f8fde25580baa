#include "analysis/h5_input.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sim/error.h"

namespace traingraph::analysis {
namespace {

/// Owns one HDF5 handle.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close closer) : id_{id}, close_{closer} {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  [[nodiscard]] hid_t get() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

hid_t opened(const std::filesystem::path& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors become exceptions, not text on stderr
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) throw sim::InputError{path.string() + ": cannot be read as an HDF5 file"};
  return file;
}

std::string cut(std::string text) {
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

}  // namespace

struct H5Input::State {
  explicit State(std::filesystem::path p) : path{std::move(p)}, file{opened(path), H5Fclose} {}

  [[noreturn]] void lacks(const std::string& what) const {
    throw sim::InputError{path.string() + ": has no " + what + " as `traingraph run -o` writes it"};
  }

  [[nodiscard]] hid_t dataset(const std::string& object) const {
    const hid_t id = H5Dopen2(file.get(), object.c_str(), H5P_DEFAULT);
    if (id < 0) lacks(object);
    return id;
  }

  [[nodiscard]] std::uint64_t rows(hid_t set) const {
    const Handle space{H5Dget_space(set), H5Sclose};
    return static_cast<std::uint64_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.get())));
  }

  /// Reads one column into `values`, converted to `type` by the library.
  template <class T>
  void read(const std::string& table, const std::string& column, hid_t type, std::vector<T>& values) const {
    const Handle set{dataset(table), H5Dclose};
    values.resize(rows(set.get()));
    const Handle row{H5Tcreate(H5T_COMPOUND, sizeof(T)), H5Tclose};
    H5Tinsert(row.get(), column.c_str(), 0, type);
    const Handle on_disk{H5Dget_type(set.get()), H5Tclose};
    const bool there =
        H5Tget_class(on_disk.get()) == H5T_COMPOUND && H5Tget_member_index(on_disk.get(), column.c_str()) >= 0;
    if (!there || H5Dread(set.get(), row.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
      lacks(table + "." + column);
    }
  }

  std::filesystem::path path;
  Handle file;
};

H5Input::H5Input(std::filesystem::path path) : state_{std::make_unique<State>(std::move(path))} {}

H5Input::~H5Input() = default;

bool H5Input::has(const std::string& object) const {
  for (std::size_t end = object.find('/', 1);; end = object.find('/', end + 1)) {  // every part of the way must be there
    if (H5Lexists(state_->file.get(), object.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

bool H5Input::is_group(const std::string& object) const {
  const Handle id{H5Gopen2(state_->file.get(), object.c_str(), H5P_DEFAULT), H5Gclose};
  return id.valid();
}

std::vector<std::string> H5Input::members(const std::string& group) const {
  const Handle id{H5Gopen2(state_->file.get(), group.c_str(), H5P_DEFAULT), H5Gclose};
  if (!id.valid()) state_->lacks(group);
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  H5Literate(id.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
  return names;
}

H5Input::Scalar H5Input::scalar(const std::string& path) const {
  const Handle set{state_->dataset(path), H5Dclose};
  const Handle type{H5Dget_type(set.get()), H5Tclose};
  const auto read = [&](hid_t memory_type, void* value) {
    if (H5Dread(set.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0) state_->lacks(path);
  };
  if (state_->rows(set.get()) != 1) state_->lacks(path);
  switch (H5Tget_class(type.get())) {
    case H5T_FLOAT: {
      double value = 0;
      read(H5T_NATIVE_DOUBLE, &value);
      return value;
    }
    case H5T_INTEGER: {
      std::uint64_t value = 0;
      read(H5T_NATIVE_UINT64, &value);
      return value;
    }
    case H5T_STRING: {
      if (H5Tis_variable_str(type.get()) > 0) state_->lacks(path);
      std::string value(H5Tget_size(type.get()), '\0');
      read(type.get(), value.data());
      return cut(std::move(value));
    }
    default:
      state_->lacks(path);
  }
}

std::string H5Input::text_attribute(const std::string& object, const std::string& name) const {
  const Handle id{H5Aopen_by_name(state_->file.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose};
  if (!id.valid()) state_->lacks("attribute " + name);
  const Handle type{H5Aget_type(id.get()), H5Tclose};
  char* text = nullptr;
  if (H5Tis_variable_str(type.get()) <= 0 || H5Aread(id.get(), type.get(), &text) < 0 || text == nullptr) {
    state_->lacks("attribute " + name);
  }
  std::string value{text};
  H5free_memory(text);
  return value;
}

std::int64_t H5Input::integer_attribute(const std::string& object, const std::string& name) const {
  const Handle id{H5Aopen_by_name(state_->file.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose};
  std::int64_t value = 0;
  if (!id.valid() || H5Aread(id.get(), H5T_NATIVE_INT64, &value) < 0) state_->lacks("attribute " + name);
  return value;
}

std::vector<std::string> H5Input::columns(const std::string& table) const {
  const Handle set{state_->dataset(table), H5Dclose};
  const Handle type{H5Dget_type(set.get()), H5Tclose};
  if (H5Tget_class(type.get()) != H5T_COMPOUND) state_->lacks(table);
  std::vector<std::string> names;
  const int count = H5Tget_nmembers(type.get());
  for (int i = 0; i < count; ++i) {
    char* const name = H5Tget_member_name(type.get(), static_cast<unsigned>(i));
    names.emplace_back(name);
    H5free_memory(name);
  }
  return names;
}

std::vector<std::int64_t> H5Input::integers(const std::string& table, const std::string& column) const {
  std::vector<std::int64_t> values;
  state_->read(table, column, H5T_NATIVE_INT64, values);
  return values;
}

std::vector<double> H5Input::reals(const std::string& table, const std::string& column) const {
  std::vector<double> values;
  state_->read(table, column, H5T_NATIVE_DOUBLE, values);
  return values;
}

std::vector<std::string> H5Input::texts(const std::string& table, const std::string& column) const {
  const Handle set{state_->dataset(table), H5Dclose};
  const Handle on_disk{H5Dget_type(set.get()), H5Tclose};
  const int member = H5Tget_class(on_disk.get()) == H5T_COMPOUND ? H5Tget_member_index(on_disk.get(), column.c_str()) : -1;
  if (member < 0) state_->lacks(table + "." + column);
  const Handle text{H5Tget_member_type(on_disk.get(), static_cast<unsigned>(member)), H5Tclose};
  if (H5Tget_class(text.get()) != H5T_STRING || H5Tis_variable_str(text.get()) > 0) state_->lacks(table + "." + column);
  const std::size_t width = H5Tget_size(text.get());
  const Handle row{H5Tcreate(H5T_COMPOUND, width), H5Tclose};
  H5Tinsert(row.get(), column.c_str(), 0, text.get());
  std::string all(width * state_->rows(set.get()), '\0');
  if (H5Dread(set.get(), row.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0) state_->lacks(table + "." + column);
  std::vector<std::string> values;
  for (std::size_t at = 0; at < all.size(); at += width) values.push_back(cut(all.substr(at, width)));
  return values;
}

H5Input::Matrix H5Input::matrix(const std::string& path) const {
  const Handle set{state_->dataset(path), H5Dclose};
  const Handle space{H5Dget_space(set.get()), H5Sclose};
  std::array<hsize_t, 2> size{};
  if (H5Sget_simple_extent_ndims(space.get()) != 2) state_->lacks(path);
  H5Sget_simple_extent_dims(space.get(), size.data(), nullptr);
  Matrix matrix{size[0], size[1], std::vector<float>(size[0] * size[1])};
  if (H5Dread(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, matrix.values.data()) < 0) state_->lacks(path);
  return matrix;
}

}  // namespace traingraph::analysis
