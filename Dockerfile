# Node installs what the lock file says; the three engines of `npm start` (optional parts, and binaries that install
# scripts fetch) stay out, since containers get theirs by URL.
FROM node:24.21.0-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM oven/bun:1.4.5-slim
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY sql sql
COPY src src
COPY workers workers
# What `admin import` remembers of its way.
RUN mkdir /data && chown bun:bun /data
ENV NODE_ENV=production DATA_DIR=/data MIMALLOC_PURGE_HOLES_MIN_INTERVAL=10000 BUN_GC_TIMER_INTERVAL=300000
USER bun
EXPOSE 8080
ENTRYPOINT ["bun", "src/cli.ts"]
CMD ["serve"]
