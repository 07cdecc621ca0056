# A cluster of Typernetes without root: API server, controllers, scheduler and a simulated node.
#   docker build --tag typernetes - < Dockerfile
#   docker run --rm --name typernetes --publish 127.0.0.1:6443:6443 typernetes
#   docker exec typernetes cat /data/kubeconfig > kubeconfig
ARG NODE_VERSION=24

FROM node:${NODE_VERSION}-slim AS package
ARG TYPERNETES_VERSION=latest
WORKDIR /opt/typernetes
RUN npm install --omit=dev --no-fund --no-audit --ignore-scripts "typernetes@${TYPERNETES_VERSION}"

FROM node:${NODE_VERSION}-slim
RUN mkdir -m 0700 /data && chown 1000:1000 /data
COPY --from=package /opt/typernetes /opt/typernetes
ENV PATH=/opt/typernetes/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/data
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 6443
HEALTHCHECK --start-period=30s CMD NODE_EXTRA_CA_CERTS=/data/pki/ca.crt node -e "fetch('https://127.0.0.1:6443/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
ENTRYPOINT ["t8s"]
CMD ["up", "--bind-address=0.0.0.0", "--node-type=simulated", "--data-dir=/data"]
