# docker build --tag dimsync . ; docker run --rm --user "$(id -u)" --volume "$PWD:/work" --env DIMSYNC_API_KEY dimsync plan
# The image holds Node, git and the package as this checkout makes it. It runs as an ordinary user, and writes only below /work.
FROM node:22-alpine AS build
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# Types serve programs that import the library.
RUN node build.mjs --no-types \
  && npm pack --ignore-scripts \
  && npm install --global --prefix /opt/dimsync --offline --ignore-scripts ./dimsync-*.tgz

FROM node:22-alpine
# `drift --base` and `ci apply` use git; the files of /work belong to whoever runs the container.
RUN apk add --no-cache git && git config --system --add safe.directory '*'
COPY --from=build /opt/dimsync /opt/dimsync
ENV PATH=/opt/dimsync/bin:$PATH
USER node
WORKDIR /work
# For `dimsync serve`, the one command that stays; all others are over before it is asked.
HEALTHCHECK --interval=30s --timeout=5s CMD ["dimsync", "version"]
ENTRYPOINT ["dimsync"]
CMD ["--help"]
