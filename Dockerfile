# The reference server, and the suite: docker build -t touchstone .

FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57 AS build
WORKDIR /build
COPY package.json package-lock.json ./
# No script of a package is needed: native ones carry what is built.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY specs specs
COPY contracts contracts
COPY server server
COPY conformance conformance
COPY client client
COPY testbed testbed
COPY scripts scripts
RUN npm run build

FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57 AS dependencies
WORKDIR /build
COPY package.json package-lock.json ./
# The server's packages are optional for others. The lock file names their versions.
RUN node -e "const m = require('./package.json'); \
    for (const name of m.touchstone.packages.server) m.dependencies[name] = m.devDependencies[name]; \
    delete m.devDependencies; \
    require('fs').writeFileSync('package.json', JSON.stringify(m))" \
  && npm install --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57
ENV NODE_ENV=production \
  TOUCHSTONE_LISTEN_HOST=0.0.0.0 \
  TOUCHSTONE_LISTEN_PORT=3000 \
  TOUCHSTONE_DATABASE_FOLDER=/data/database
RUN install -d -o node -g node /data
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=dependencies /build/node_modules node_modules
COPY --from=build /build/dist dist
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.TOUCHSTONE_LISTEN_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself gets the signals: SIGTERM drains.
ENTRYPOINT ["node", "dist/scripts/touchstone.js"]
CMD ["serve"]
