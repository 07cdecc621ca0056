/** Maintains the config map `kube-root-ca.crt` in every namespace, by which pods verify the server. */
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { configMaps, namespaces } from '../../client/kinds.ts'
import { publisherMetrics } from './publisher-metrics.ts'

const name = 'kube-root-ca.crt'
const annotations = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as ' +
    'the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of ' +
    'Kubernetes clusters.',
}

/** `rootCA` is a PEM bundle; `observe` records metrics of each sync. */
export const rootCaPublisher = (rootCA: string, observe = publisherMetrics()): Controller => ({
  name: 'root-ca-certificate-publisher-controller',
  concurrency: 4,
  watches: [
    watch({ resource: namespaces }),
    watch({
      resource: configMaps,
      selection: { fieldSelector: `metadata.name=${name}` },
      keys: ({ metadata }) => [metadata.namespace ?? ''],
    }),
  ],
  reconcile: (namespace, context) => observe(publish(namespace, rootCA, context)),
})

async function publish(namespace: string, rootCA: string, { client, caches }: ReconcileContext): Promise<void> {
  if (caches.get(namespaces, '', namespace)?.status?.phase !== 'Active') return
  const data = { 'ca.crt': rootCA }
  const existing = caches.get(configMaps, namespace, name)
  if (!existing)
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, annotations },
      data,
    })
  else if (!isPublished(existing.data, rootCA)) {
    const { metadata } = existing
    await client.update(configMaps, {
      ...existing,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
      data,
    })
  }
}

const isPublished = (data: Readonly<Record<string, string>> = {}, rootCA: string): boolean =>
  data['ca.crt'] === rootCA && Object.keys(data).length === 1
