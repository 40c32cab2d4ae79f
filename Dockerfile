# The command, the libraries and the Python module, from the archive of tools/package or of a release:
#
#   tools/package && docker build --tag warpmat .
#   docker build --tag warpmat:nvcc --build-arg BASE=nvidia/cuda:13.0.1-devel-ubuntu24.04 .
#   docker run --rm --volume "$PWD:/work" warpmat warpmat cuda ./app
#
# BASE has glibc 2.35 or later; with nvcc the image compiles programs, too. The Python module needs the Python of the
# archive: 3.11 if Debian 12 made it, which Ubuntu's images do not have.
ARG BASE=debian:12-slim
FROM ${BASE}
RUN apt-get update -qq && apt-get install --yes --no-install-recommends libeigen3-dev python3-numpy zlib1g && rm -rf /var/lib/apt/lists/*
ADD build/package/warpmat-*-linux-*.tar.gz /opt/
RUN mv /opt/warpmat-*-linux-* /opt/warpmat && /opt/warpmat/bin/warpmat --version
ENV PATH=/opt/warpmat/bin:$PATH CMAKE_PREFIX_PATH=/opt/warpmat PYTHONPATH=/opt/warpmat/lib/python3/dist-packages
WORKDIR /work
