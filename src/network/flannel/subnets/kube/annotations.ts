/** Annotations of Nodes by which nodes of flannel find each other: upstream's, so that both kinds share a network. */
import type { LeaseAttributes } from '../subnet-manager.ts'

/** The names of the annotations of a network. */
export interface AnnotationNames {
  readonly kubeManaged: string
  readonly backendType: string
  readonly backendData: string
  readonly backendV6Data: string
  readonly publicIP: string
  readonly publicIPv6: string
  /** Written by an administrator: the address that replaces `--public-ip`. */
  readonly nodePublicIP: string
  readonly nodePublicIPv6: string
  /** Written by an administrator: the address that is published, whatever the interface has. */
  readonly publicIPOverwrite: string
  readonly publicIPv6Overwrite: string
}

export type Annotations = Readonly<Record<string, string>>

/** `--kube-annotation-prefix` by default. */
export const defaultPrefix = 'flannel.alpha.coreos.com'

const prefixPattern = /(?:[a-z0-9_-]+\.)+[a-z0-9_-]+\/(?:[a-z0-9_-]+-)?$/

/** @throws an Error with upstream's message for a prefix that is no begin of an annotation. */
export function annotationNames(prefix: string): AnnotationNames {
  const slashes = prefix.split('/').length - 1
  if (slashes > 1) throw new Error('subnet/kube: prefix can contain at most single slash')
  const withSlash = slashes === 0 ? `${prefix}/` : prefix
  const begin = /[/-]$/.test(withSlash) ? withSlash : `${withSlash}-`
  if (!prefixPattern.test(begin)) throw new Error('subnet/kube: prefix must be in a format: fqdn/[0-9a-z-_]*')
  return {
    kubeManaged: `${begin}kube-subnet-manager`,
    backendType: `${begin}backend-type`,
    backendData: `${begin}backend-data`,
    backendV6Data: `${begin}backend-v6-data`,
    publicIP: `${begin}public-ip`,
    publicIPv6: `${begin}public-ipv6`,
    nodePublicIP: `${begin}node-public-ip`,
    nodePublicIPv6: `${begin}node-public-ipv6`,
    publicIPOverwrite: `${begin}public-ip-overwrite`,
    publicIPv6Overwrite: `${begin}public-ipv6-overwrite`,
  }
}

/** The annotations of a node with these attributes, given those that it has. */
export function annotationsOf(names: AnnotationNames, attributes: LeaseAttributes, present: Annotations): Annotations {
  const { publicIP, publicIPv6, backendType, backendData, backendV6Data } = attributes
  const address = present[names.publicIPOverwrite] || publicIP
  const address6 = present[names.publicIPv6Overwrite] || publicIPv6
  return {
    [names.kubeManaged]: 'true',
    [names.backendType]: backendType,
    // Go writes null for a backend without data.
    ...(publicIP !== undefined && { [names.backendData]: JSON.stringify(backendData ?? null) }),
    ...(publicIP !== undefined && address !== undefined && { [names.publicIP]: address }),
    ...(publicIPv6 !== undefined && { [names.backendV6Data]: JSON.stringify(backendV6Data ?? null) }),
    ...(publicIPv6 !== undefined && address6 !== undefined && { [names.publicIPv6]: address6 }),
  }
}

/** The wanted annotations that are missing or different; undefined if there are none. */
export function annotationChanges(wanted: Annotations, present: Annotations): Annotations | undefined {
  const changes = Object.entries(wanted).filter(([name, value]) => present[name] !== value)
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

/** The JSON of an annotation; undefined for one that is missing, null, or no JSON. */
export function annotatedData(text: string | undefined): object | undefined {
  try {
    const data: unknown = JSON.parse(text ?? 'null')
    return typeof data === 'object' && data !== null ? data : undefined
  } catch {
    return undefined
  }
}
