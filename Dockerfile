# One file for every image: the product (the last stage), its tools of administration, and two servers whose folders must belong to
# a user that is not root. docker-compose.yml says which one a container runs.
ARG NODE_IMAGE=node:20-trixie-slim
ARG ROCKETMQ_IMAGE=apache/rocketmq:5.3.3
ARG S3_IMAGE=versity/versitygw:v1.8.0

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

# Name server, broker and proxy; a volume takes its owner from the folder of the image.
FROM ${ROCKETMQ_IMAGE} AS rocketmq
USER root
RUN mkdir -p /home/rocketmq/store /home/rocketmq/logs && chown -R rocketmq:rocketmq /home/rocketmq/store /home/rocketmq/logs
USER rocketmq

FROM ${S3_IMAGE} AS s3
USER root
RUN mkdir -p /data/aivedio && chown -R 1000:1000 /data
USER 1000:1000

# Debian 13, for its ffmpeg 7.
FROM ${NODE_IMAGE} AS runtime
RUN apt-get update \
  && apt-get upgrade -y \
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
EXPOSE 4000
# tini reaps ffmpeg's children and passes SIGTERM on, so that a process can drain.
ENTRYPOINT ["tini", "--"]
CMD ["node", "dist/src/api.js"]

# The product with mqadmin, which creates topics and groups: the Node client has no administration.
FROM runtime AS admin
RUN apt-get update \
  && apt-get install -y --no-install-recommends openjdk-21-jre-headless \
  && rm -rf /var/lib/apt/lists/*
COPY --from=rocketmq /home/rocketmq/rocketmq-5.3.3 /opt/rocketmq
ENV ROCKETMQ_HOME=/opt/rocketmq PATH=/opt/rocketmq/bin:$PATH
USER node

FROM runtime
USER node
