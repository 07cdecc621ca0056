/** Keeps the config map `kube-root-ca.crt` in every namespace: the authority that pods check the server by. */
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

/** `rootCA` is a PEM bundle; `counted` counts work on a namespace. */
export const rootCaPublisher = (rootCA: string, counted = publisherMetrics()): Controller => ({
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
  reconcile: (namespace, context) => counted(publish(namespace, rootCA, context)),
})

async function publish(namespace: string, rootCA: string, { client, caches }: ReconcileContext): Promise<void> {
  if (caches.get(namespaces, '', namespace)?.status?.phase !== 'Active') return
  const data = { 'ca.crt': rootCA }
  const present = caches.get(configMaps, namespace, name)
  if (!present)
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, annotations },
      data,
    })
  else if (!isPublished(present.data, rootCA)) {
    const { metadata } = present
    await client.update(configMaps, {
      ...present,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
      data,
    })
  }
}

const isPublished = (data: Readonly<Record<string, string>> = {}, rootCA: string): boolean =>
  data['ca.crt'] === rootCA && Object.keys(data).length === 1
