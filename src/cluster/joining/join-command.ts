/** The command that makes another machine a node of a cluster. */
import { configMaps } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { isLoopbackHost } from '../../lib/loopback-host.ts'
import { caHash, certificatesIn } from './ca-hash.ts'
import { type ClusterPlace, clusterInfo, kubeconfigKey, placeIn } from './cluster-info.ts'
import { type BootstrapToken, tokenText } from './tokens/token-form.ts'

/** Reads the place of a cluster. Rejects with an ExplainedError if the cluster does not publish it. */
export async function readPlace(client: RestClient): Promise<ClusterPlace> {
  const { namespace, name } = clusterInfo
  const object = await client.find(configMaps, namespace, name)
  const place = placeIn(object?.data?.[kubeconfigKey] ?? '')
  if (place) return place
  throw new ExplainedError(
    `the cluster has no ConfigMap ${namespace}/${name} with its address, so machines cannot join it: clusters of ` +
      't8s up on disk, and of kubeadm, have one',
  )
}

/** @example joinCommand(place, token) // 't8s join https://192.0.2.1:6443 --token …' */
export function joinCommand({ url, ca }: ClusterPlace, token: BootstrapToken): string {
  const pins = certificatesIn(ca).map((cert) => `--discovery-token-ca-cert-hash ${caHash(cert)}`)
  return ['t8s join', url, `--token ${tokenText(token)}`, ...pins].join(' ')
}

/** True if only processes of the server's own machine reach it. */
export const isLoopbackPlace = ({ url }: ClusterPlace): boolean =>
  isLoopbackHost(new URL(url).hostname.replace(/^\[|\]$/g, ''))
