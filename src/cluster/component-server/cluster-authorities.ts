/**
 * The authorities of users that a cluster tells its components (ConfigMap `extension-apiserver-authentication`), as
 * they are now.
 */
import type { Bundle } from '../../apiserver/certificates/signed-by.ts'
import { SharedInformers } from '../../client/informers/shared-informers.ts'
import { configMaps } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'

export interface ClusterAuthorities {
  /** Empty as long as they are not known: nobody is known by a certificate then. */
  readonly clientCA: Bundle
  stop(): Promise<void>
}

const place = { namespace: 'kube-system', name: 'extension-apiserver-authentication' } as const

/** Follows them from now on; who reads them has to be bound to the role `extension-apiserver-authentication-reader`. */
export function clusterAuthorities(client: RestClient, log: (line: string) => void): ClusterAuthorities {
  const informers = new SharedInformers(client, log)
  const informer = informers.of(configMaps, {
    namespace: place.namespace,
    fieldSelector: `metadata.name=${place.name}`,
  })
  return {
    clientCA: () => informer.get(place.namespace, place.name)?.data?.['client-ca-file'] ?? '',
    stop: () => informers.stop(),
  }
}
