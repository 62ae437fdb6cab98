#!/bin/sh
# A Python of Debian for 64-bit Arm with its headers, in a folder of its own, for qemu-user and the cross compiler; nothing is
# installed in the system. Its packages are of the release that runs here; NumPy and what tests import come from PyPI.
#
#   python_aarch64.sh <folder> <version of Python, as 3.11> <pip> <packages of PyPI...>
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd) version=$2 pip=$3
shift 3

mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
touch "$folder/apt/status"
arm() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
    -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt/cache" "$@"
}
cd "$folder"
arm update
arm download "python$version-minimal" "libpython$version-minimal" "libpython$version-stdlib" "libpython$version-dev" \
  libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libffi8 libbz2-1.0 liblzma5 libuuid1
for package in *.deb; do dpkg -x "$package" .; done
rm -- *.deb

"$pip" install --quiet --target usr/lib/python3/dist-packages --upgrade --only-binary=:all: --implementation cp \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 \
  --python-version "$version" "$@"
