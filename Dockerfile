# The farm as one static binary in an empty image. compose/farm.yml shows it beside a server under test.
FROM rust:1.95-alpine AS build
RUN apk add --no-cache build-base cmake
WORKDIR /peerfarm
COPY . .
RUN cargo build --release --locked --bin peerfarm && mkdir /state

FROM scratch
COPY --from=build /peerfarm/target/release/peerfarm /peerfarm
# A volume mounted over it takes its owner.
COPY --from=build --chown=1000:1000 /state /state
USER 1000:1000
EXPOSE 443 8080
ENTRYPOINT ["/peerfarm"]
