# docker build --tag dimsync .
# docker run --rm --user "$(id -u)" --volume "$PWD:/work" --env DIMSYNC_API_KEY dimsync plan
#
# The image contains Node, git and the package. It runs as an ordinary user and writes only below /work.
FROM node:24-alpine AS build
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# Only programs that import the library need the types.
RUN node build.mjs --no-types \
  && mkdir /package \
  && npm pack --ignore-scripts --pack-destination /package

# The release replaces this stage by a folder with the published tarball:
# docker build --build-context package=FOLDER .
FROM scratch AS package
COPY --from=build /package/ /

FROM node:24-alpine AS install
COPY --from=package /dimsync-*.tgz /
# The controller's queue and its embedded database are optional peer dependencies.
RUN npm install --global --prefix /opt/dimsync --ignore-scripts /dimsync-*.tgz pg-boss@12.35.0 @electric-sql/pglite@0.5.16

FROM node:24-alpine
# `drift --base` and `ci apply` use git. The user who starts the container owns the files of /work.
RUN apk add --no-cache git && git config --system --add safe.directory '*'
COPY --from=install /opt/dimsync /opt/dimsync
ENV PATH=/opt/dimsync/bin:$PATH
USER node
WORKDIR /work
# Asks `dimsync controller` whether it responds. Other commands have no endpoint to ask.
COPY build/container-health.cjs /opt/dimsync/container-health.cjs
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "/opt/dimsync/container-health.cjs"]
ENTRYPOINT ["dimsync"]
CMD ["--help"]
