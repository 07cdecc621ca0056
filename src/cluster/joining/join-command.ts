/** The command that makes another machine a node of a cluster. */
import { configMaps } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
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
      'kubeadm have one, and those of t8s up on disk that other machines reach (t8s up --bind-address 0.0.0.0)',
  )
}

/** @example joinCommand(place, token) // 't8s join https://192.0.2.1:6443 --token …' */
export function joinCommand({ url, ca }: ClusterPlace, token: BootstrapToken): string {
  const pins = certificatesIn(ca).map((cert) => `--discovery-token-ca-cert-hash ${caHash(cert)}`)
  return ['t8s join', url, `--token ${tokenText(token)}`, ...pins].join(' ')
}
