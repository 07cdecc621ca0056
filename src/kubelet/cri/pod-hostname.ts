/** The names of a pod's host. */
import { type Pod, specOf } from '../pod-types.ts'

export interface PodHostname {
  /** The host name without a domain. */
  readonly name: string
  /** The domain of a pod with a subdomain: `SUBDOMAIN.NAMESPACE.svc.CLUSTERDOMAIN`. Empty without one. */
  readonly domain: string
}

/** The longest name without a domain, as the kubelet cuts it. */
const maxName = 63
/** The longest name that Linux allows. */
const maxKernelName = 64

const cut = (name: string): string => (name.length <= maxName ? name : name.slice(0, maxName).replace(/[-.]+$/, ''))

/** Returns the name of the pod's field `hostnameOverride` or `hostname`, or the pod's own, and its domain. */
export function podHostname(pod: Pod, clusterDomain: string): PodHostname {
  const { hostnameOverride, hostname, subdomain } = specOf(pod)
  const { name = '', namespace = '' } = pod.metadata
  if (hostnameOverride) return { name: cut(hostnameOverride), domain: '' }
  const domain = subdomain ? `${subdomain}.${namespace}.svc.${clusterDomain}` : ''
  return { name: cut(hostname || name), domain }
}

/** Returns the name that the kernel has in the pod. Throws an Error for a full name that is too long for it. */
export function kernelHostname(pod: Pod, clusterDomain: string): string {
  const { name, domain } = podHostname(pod, clusterDomain)
  if (!domain || !specOf(pod).setHostnameAsFQDN) return name
  const full = `${name}.${domain}`
  if (full.length <= maxKernelName) return full
  throw new Error(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long ` +
      `(${maxKernelName} characters is the max, ${full.length} characters requested)`,
  )
}
