#!/usr/bin/env bash
# Every source file is as clang-format 16 writes it. Exit code 77 (skipped) where that tool is not installed, 1 under
# TRAINGRAPH_CI.   tests/style/format.sh [--fix]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang-format-16 >/dev/null; then
  echo "clang-format-16 is not installed" >&2
  if [[ -n ${TRAINGRAPH_CI:-} ]]; then exit 1; fi
  exit 77
fi
mode=(--dry-run -Werror)
if [[ ${1:-} == --fix ]]; then mode=(-i); fi
find sim topology workloads analysis scenarios tests '(' -name '*.h' -o -name '*.inl' -o -name '*.cc' ')' -print0 |
  xargs -0 clang-format-16 --style=file "${mode[@]}"
