# docker build --build-arg VERSION=0.1.0 --tag dimsync . ; docker run --rm -v "$PWD:/work" -e DIMSYNC_API_KEY dimsync plan
# The image holds the published package and nothing else of this repository. It runs as nobody in particular, and writes only below /work.
FROM node:22-alpine
ARG VERSION=0.1.0
RUN apk add --no-cache git \
  && npm install --global --no-audit --no-fund --ignore-scripts "dimsync@${VERSION}" \
  && npm cache clean --force \
  && git config --system --add safe.directory /work
USER node
WORKDIR /work
# For `dimsync serve`, the one command that stays; all others are over before it is asked.
HEALTHCHECK --interval=30s --timeout=5s CMD ["dimsync", "version"]
ENTRYPOINT ["dimsync"]
CMD ["--help"]
