# bench and the installed library: the service runtime of compose.yaml, and a base for images of others.
#
#   FROM syscost-runtime
#   COPY my_tests /usr/local/bin/
#   CMD ["my_tests", "--syscost_csv", "/out/tests.csv"]
#
# Headers and CMake's and pkg-config's files are in it too (docs/containers.md builds upon it); compilers are not.
ARG BASE_IMAGE=debian:bookworm
ARG RUNTIME_BASE_IMAGE=debian:bookworm-slim

FROM ${BASE_IMAGE} AS build
COPY tools/packages.sh docker/install-packages docker/set-up-workshop /usr/local/lib/syscost/
RUN /usr/local/lib/syscost/install-packages packages_workshop packages_build
ENV CCACHE_DIR=/ccache LANG=C.UTF-8
COPY . /src
WORKDIR /src
RUN --mount=type=cache,target=/ccache \
    cmake --preset release -DSYSCOST_BUILD_TESTS=OFF -DSYSCOST_BUILD_DEMOS=OFF -DCMAKE_INSTALL_PREFIX=/usr/local \
      -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
 && cmake --build build/release \
 && DESTDIR=/installed cmake --install build/release --strip

FROM ${RUNTIME_BASE_IMAGE}
COPY tools/packages.sh docker/install-packages /usr/local/lib/syscost/
RUN /usr/local/lib/syscost/install-packages packages_runtime
COPY --from=build /installed /
RUN ldconfig
CMD ["bench", "--help"]
