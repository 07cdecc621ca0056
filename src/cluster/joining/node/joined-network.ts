/** The network of pods of a cluster that a machine joins. */
import { ExplainedError } from '../../../lib/explained-error.ts'
import { netConf, tunnelBackend } from '../../flannel/net-conf.ts'
import { networkConfig, networkConfiguration } from '../../flannel/stored-network.ts'
import type { KnownCluster } from './node-folder.ts'

/**
 * Returns the text of net-conf.json: that of the cluster, else one by its ranges of pods; undefined if it has none.
 * Throws an ExplainedError for a flag `--network-backend` with another backend.
 */
export function joinedNetwork(
  { network, podRanges }: Pick<KnownCluster, 'network' | 'podRanges'>,
  backend: string | undefined,
): string | undefined {
  if (network === undefined)
    return podRanges.length > 0 ? netConf(backend ? { Type: backend } : tunnelBackend, podRanges) : undefined
  const { backendType } = networkConfig(network)
  if (backend === undefined || backend === backendType) return network
  const { namespace, name } = networkConfiguration
  throw new ExplainedError(
    `the pods of this cluster are connected by the backend ${backendType} (ConfigMap ${namespace}/${name}), not by ` +
      `${backend}: leave out --network-backend, or change the network for all nodes with t8s up --network-backend ` +
      `${backend} on the server`,
  )
}
