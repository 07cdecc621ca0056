/** Decides how pods of a real node resolve names. */
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeletConfiguration } from '../../kubelet/configuration/index.ts'
import { messageOf } from '../../lib/message-of.ts'
import { dnsAddress, prepareDns } from './cluster-dns.ts'

export interface NodeDnsOptions {
  readonly configuration: KubeletConfiguration
  /** The address at which pods reach this process; undefined if they cannot. */
  readonly gateway: string | undefined
  /** Separated by a comma. */
  readonly serviceRanges: string
  /** An administrator's. */
  readonly client: RestClient
  readonly log: (line: string) => void
}

export interface NodeDns {
  /** The configuration with the address of DNS in it. */
  readonly configuration: KubeletConfiguration
  /** The address that the cluster's server listens on; undefined if pods or another program are the server. */
  readonly gateway: string | undefined
}

const defaultDomain = 'cluster.local'

/** Prepares the objects of DNS, unless the configuration names a server. Never rejects. */
export async function nodeDns(options: NodeDnsOptions): Promise<NodeDns> {
  const { configuration, gateway, serviceRanges, client, log } = options
  const others: NodeDns = { configuration, gateway: undefined }
  const address = serviceRanges.split(',').flatMap((range) => dnsAddress(range.trim()) ?? [])[0]
  if (!gateway || !address || configuration.clusterDNS.length > 0) return others
  const own = {
    ...configuration,
    clusterDNS: [address],
    clusterDomain: configuration.clusterDomain || defaultDomain,
  }
  try {
    const isServed = await prepareDns(client, address)
    return { configuration: own, gateway: isServed ? gateway : undefined }
  } catch (error) {
    log(`names of Services have no addresses in pods: ${messageOf(error)}`)
    return others
  }
}
