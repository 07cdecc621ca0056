/** Publishes the server's root CA as a ClusterTrustBundle, which pods project; deletes other bundles of its signer. */
import { createHash } from 'node:crypto'
import { type Controller, watch } from '../../client/controller/controller.ts'
import { type ClusterTrustBundle, clusterTrustBundles } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'

const signerName = 'kubernetes.io/kube-apiserver-serving'
const selection = { fieldSelector: `spec.signerName=${signerName}` }
/** The only key: all bundles are reconciled together. */
const syncKey = 'all'

/** `trustBundle` is a PEM bundle. */
export function trustBundlePublisher(trustBundle: string): Controller {
  const name = bundleName(trustBundle)
  const spec = { signerName, trustBundle }
  return {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    queue: 'ca_cert_publisher_cluster_trust_bundles',
    watches: [watch({ resource: clusterTrustBundles, selection, keys: () => [syncKey] })],
    async reconcile(_key, { caches, client }) {
      const existing = caches.get(clusterTrustBundles, '', name)
      const bundle: ClusterTrustBundle = {
        apiVersion: 'certificates.k8s.io/v1beta1',
        kind: 'ClusterTrustBundle',
        metadata: { name },
        spec,
      }
      if (!existing) await client.create(clusterTrustBundles, bundle)
      else if (existing.spec?.trustBundle !== trustBundle)
        await client.update(clusterTrustBundles, { ...existing, spec })
      for (const { metadata } of caches.all(clusterTrustBundles))
        if (metadata.name !== name)
          await client.delete(clusterTrustBundles, '', metadata.name ?? '').catch(ignoreNotFound)
    },
    async run({ requeue }) {
      requeue(syncKey)
    },
  }
}

/** The name depends on the content, so that pods see either the old or the new bundle. */
const bundleName = (trustBundle: string): string =>
  `${signerName.replaceAll('/', ':')}:${createHash('sha256').update(trustBundle).digest('hex').slice(0, 24)}`
