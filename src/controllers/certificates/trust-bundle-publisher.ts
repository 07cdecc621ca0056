/**
 * Publishes the authority that the server is checked by as a ClusterTrustBundle, for pods that project it; others of
 * its signer are removed.
 */
import { createHash } from 'node:crypto'
import { type Controller, watch } from '../../client/controller/controller.ts'
import { type ClusterTrustBundle, clusterTrustBundles } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'

const signerName = 'kubernetes.io/kube-apiserver-serving'
const selection = { fieldSelector: `spec.signerName=${signerName}` }
/** All of them are looked at together. */
const all = 'all'

/** `trustBundle` is a PEM bundle. */
export function trustBundlePublisher(trustBundle: string): Controller {
  const name = bundleName(trustBundle)
  const spec = { signerName, trustBundle }
  return {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    queue: 'ca_cert_publisher_cluster_trust_bundles',
    watches: [watch({ resource: clusterTrustBundles, selection, keys: () => [all] })],
    async reconcile(_key, { caches, client }) {
      const present = caches.get(clusterTrustBundles, '', name)
      const bundle: ClusterTrustBundle = {
        apiVersion: 'certificates.k8s.io/v1beta1',
        kind: 'ClusterTrustBundle',
        metadata: { name },
        spec,
      }
      if (!present) await client.create(clusterTrustBundles, bundle)
      else if (present.spec?.trustBundle !== trustBundle) await client.update(clusterTrustBundles, { ...present, spec })
      for (const { metadata } of caches.all(clusterTrustBundles))
        if (metadata.name !== name)
          await client.delete(clusterTrustBundles, '', metadata.name ?? '').catch(ignoreNotFound)
    },
    async run({ requeue }) {
      requeue(all)
    },
  }
}

/** Another content has another name, so that pods see the one or the other, never something between. */
const bundleName = (trustBundle: string): string =>
  `${signerName.replaceAll('/', ':')}:${createHash('sha256').update(trustBundle).digest('hex').slice(0, 24)}`
