# One image for every process of AiVedio; docker-compose.yml says which one a container runs.
ARG NODE_IMAGE=node:20-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
RUN apt-get update \
  && apt-get install -y --no-install-recommends ffmpeg fonts-dejavu-core tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production AIVEDIO_DATA_DIR=/data
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY prisma ./prisma
COPY schema ./schema
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 4000
# tini reaps ffmpeg's children and passes SIGTERM on, so that a process can drain.
ENTRYPOINT ["tini", "--"]
CMD ["node", "dist/src/api.js"]
