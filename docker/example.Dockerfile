# An image of a project's tests upon syscost's runtime image; ./dev docker builds and runs it. The project is
# tests/consumer/find_package, which finds an installed syscost as anybody's would.
ARG RUNTIME_IMAGE=syscost-runtime
FROM ${RUNTIME_IMAGE} AS build
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends g++ cmake make libgtest-dev \
 && rm -rf /var/lib/apt/lists/*
COPY tests/consumer /project
RUN cmake -S /project/find_package -B /build -DCMAKE_BUILD_TYPE=Release && cmake --build /build --target greeting_test

FROM ${RUNTIME_IMAGE}
COPY --from=build /build/greeting_test /usr/local/bin/my_tests
CMD ["my_tests", "--syscost_profile", "syscalls"]
