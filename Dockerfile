# docker build -t uptake .
# docker run --rm -p 127.0.0.1:3001:3001 uptake serve --open
#
# This service needs no key and is published to this machine only. To let others reach it, make keys on the volume first:
# docker run --rm -v uptake-data:/srv/uptake/data uptake key add frontend
# docker run --rm -v uptake-data:/srv/uptake/data -p 3001:3001 uptake

FROM rust:1.95.0-slim-bookworm AS build
WORKDIR /src
# Python only fetches the library. The C compiler that some dependencies need is in the image.
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-pip \
    && rm -rf /var/lib/apt/lists/*
# Before the source, because it rarely changes.
COPY scripts/get-onnxruntime scripts/
RUN scripts/get-onnxruntime --into /out/lib
COPY Cargo.toml Cargo.lock ./
# Without default features the executable cannot fetch models: mount models of a hub (embed.kind = "directory").
COPY benches benches
COPY config config
COPY models models
COPY src src
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --no-default-features --bin uptake \
    && install -D target/release/uptake /out/bin/uptake

FROM debian:bookworm-slim
# Certificates for model servers with https; the C++ library for ONNX Runtime. Time zones are in the executable.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 uptake \
    && useradd --uid 10001 --gid uptake --home-dir /srv/uptake --shell /usr/sbin/nologin uptake \
    && install -d -o uptake -g uptake /srv/uptake/data
WORKDIR /srv/uptake
COPY LICENSE /usr/share/doc/uptake/LICENSE
COPY models/uptake-encoder/LICENSE /usr/share/doc/uptake/uptake-encoder.LICENSE
COPY --from=build /out/lib/libonnxruntime.LICENSE /out/lib/libonnxruntime.ThirdPartyNotices.txt /usr/share/doc/uptake/
# The executable finds it as ../lib.
COPY --from=build /out/lib/libonnxruntime.so /usr/local/lib/
COPY --from=build /out/bin/uptake /usr/local/bin/
COPY config/docker.toml config/uptake.toml
COPY modules modules
ENV ORT_DISABLE_TELEMETRY=1
# By number, so that a cluster can check that the user is not root.
USER 10001:10001
VOLUME /srv/uptake/data
EXPOSE 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["uptake", "health"]
ENTRYPOINT ["uptake"]
CMD ["serve"]
