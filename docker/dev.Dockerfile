# Debian 12 with everything to build, test and run syscost and bpftrace: the services dev, test and unprivileged of
# compose.yaml. The sources are not in it, they are mounted.
#
# What is installed is what ./dev would install, from the same lists, in a layer for each pace of change. No syntax line
# and no digest: both ask a registry, and this builds where BASE_IMAGE is already there and an archive of Debian answers.
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
