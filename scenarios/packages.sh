# Sourced by scenarios/quickstart.sh and tests/run.sh: the Debian packages that building and testing need.

build_packages=(ca-certificates cmake g++ git libboost-dev libcli11-dev libcpp-httplib-dev libfmt-dev libhdf5-dev libmimalloc-dev
  libpugixml-dev libyaml-cpp-dev ninja-build nlohmann-json3-dev)
test_packages=(libgmock-dev libgtest-dev libopenmpi-dev librapidcheck-dev nodejs openmpi-bin python3 python3-h5py)

# Installs what is missing of the packages named; says nothing when nothing is. Fails, saying what to install, where it may not.
install_missing() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then return 0; fi

  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "missing packages, and neither root nor sudo to install them; as root, run:" >&2
      echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
      return 4
    fi
    as_root=(sudo)
  fi
  if ! command -v apt-get >/dev/null; then
    echo "missing packages, and no apt-get to install them: ${missing[*]}" >&2
    return 4
  fi
  echo "installing ${missing[*]}" >&2
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "could not install: ${missing[*]}" >&2
    return 4
  fi
  rm -f "$log"
}

# Configures and builds a preset of CMakePresets.json in the checkout $1, with the targets that follow; quiet when all goes well.
build_preset() {
  local root=$1 preset=$2 log
  shift 2
  log=$(mktemp)
  if ! { cd "$root" && cmake --preset "$preset" >"$log" 2>&1 && cmake --build --preset "$preset" ${1:+--target "$@"} >"$log" 2>&1; }; then
    tail -n 60 "$log" >&2
    rm -f "$log"
    echo "the build of preset '$preset' failed" >&2
    return 1
  fi
  rm -f "$log"
}
