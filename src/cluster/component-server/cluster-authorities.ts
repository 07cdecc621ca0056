/**
 * The current client CA of a cluster, which its components read from the ConfigMap
 * `extension-apiserver-authentication`.
 */
import type { Bundle } from '../../apiserver/certificates/signed-by.ts'
import { SharedInformers } from '../../client/informers/shared-informers.ts'
import { configMaps } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'

export interface ClusterAuthorities {
  /** Empty until it has been read; until then no client certificate is accepted. */
  readonly clientCA: Bundle
  stop(): Promise<void>
}

const configMap = { namespace: 'kube-system', name: 'extension-apiserver-authentication' } as const

/** Watches the ConfigMap. The client must be bound to the role `extension-apiserver-authentication-reader`. */
export function clusterAuthorities(client: RestClient, log: (line: string) => void): ClusterAuthorities {
  const informers = new SharedInformers(client, log)
  const informer = informers.of(configMaps, {
    namespace: configMap.namespace,
    fieldSelector: `metadata.name=${configMap.name}`,
  })
  return {
    clientCA: () => informer.get(configMap.namespace, configMap.name)?.data?.['client-ca-file'] ?? '',
    stop: () => informers.stop(),
  }
}
