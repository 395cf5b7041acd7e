# The development image with the CUDA toolkit: the service dev-cuda of compose.yaml.
#
# Up to the last RUN the instructions are dev.Dockerfile's (a test compares them), so that the two share their layers and
# neither has to be built first. The toolkit is Debian's, 1.6 GB from contrib and non-free, unless BASE_IMAGE brings an
# nvcc along. The driver's library, libcuda.so, comes from the host with the GPU.
ARG BASE_IMAGE=debian:bookworm
FROM ${BASE_IMAGE}
COPY tools/packages.sh docker/install-packages docker/set-up-workshop /usr/local/lib/syscost/
RUN /usr/local/lib/syscost/install-packages packages_workshop packages_build
RUN /usr/local/lib/syscost/install-packages packages_test packages_overhead packages_lint
RUN /usr/local/lib/syscost/set-up-workshop
COPY docker/entrypoint /usr/local/bin/syscost-entrypoint
ENV CCACHE_DIR=/ccache CCACHE_MAXSIZE=2G LANG=C.UTF-8
WORKDIR /src
ENTRYPOINT ["syscost-entrypoint"]
CMD ["bash"]
COPY docker/install-cuda /usr/local/lib/syscost/
RUN /usr/local/lib/syscost/install-cuda
