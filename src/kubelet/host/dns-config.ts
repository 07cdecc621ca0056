/** The name servers and search domains of pods (`dnsPolicy`, `dnsConfig`). */
import { type Pod, specOf } from '../pod-types.ts'

export interface DnsConfig {
  readonly servers: string[]
  readonly searches: string[]
  readonly options: string[]
}

export interface DnsSettings {
  /** Addresses of the cluster's DNS service (`clusterDNS`). */
  readonly clusterDns: readonly string[]
  readonly clusterDomain: string
  /** The text of the node's `resolv.conf`. */
  readonly resolvConf: string
}

/** The kernel's library reads no more. */
const maxServers = 3
const maxSearches = 32

export function dnsConfigOf(pod: Pod, settings: DnsSettings): DnsConfig {
  const own = specOf(pod).dnsConfig ?? {}
  const base = baseOf(pod, settings)
  const options = new Map(base.options.map((option) => [option.split(':', 1)[0]!, option]))
  for (const { name = '', value } of own.options ?? []) options.set(name, value ? `${name}:${value}` : name)
  return {
    servers: unique([...base.servers, ...(own.nameservers ?? [])]).slice(0, maxServers),
    searches: unique([...base.searches, ...(own.searches ?? [])]).slice(0, maxSearches),
    options: [...options.values()],
  }
}

/** True if a pod wants the cluster's DNS, and none is configured: an event says so. */
export const lacksClusterDns = (pod: Pod, { clusterDns }: DnsSettings): boolean =>
  clusterDns.length === 0 && usesCluster(pod)

function usesCluster(pod: Pod): boolean {
  const { dnsPolicy = 'ClusterFirst', hostNetwork } = specOf(pod)
  return dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork)
}

function baseOf(pod: Pod, settings: DnsSettings): DnsConfig {
  if (specOf(pod).dnsPolicy === 'None') return { servers: [], searches: [], options: [] }
  const node = parseResolvConf(settings.resolvConf)
  const { clusterDns, clusterDomain } = settings
  if (!usesCluster(pod) || clusterDns.length === 0) return node
  const searches = clusterDomain
    ? [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain]
    : []
  return { servers: [...clusterDns], searches: [...searches, ...node.searches], options: ['ndots:5'] }
}

/** Reads a `resolv.conf` (resolv.conf(5)): the last `search` line counts. */
export function parseResolvConf(text: string): DnsConfig {
  const servers: string[] = []
  let searches: string[] = []
  let options: string[] = []
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/)
    if (keyword === 'nameserver' && words[0]) servers.push(words[0])
    else if (keyword === 'search')
      searches = words.filter((word) => word !== '.').map((word) => word.replace(/\.$/, ''))
    else if (keyword === 'options') options = words
  }
  return { servers, searches, options }
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)]
