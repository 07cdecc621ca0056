/** Values of the downward API: fields of the pod, and resources of its containers. */
import { goQuote } from '../../lib/go/go-quote.ts'
import { milliValue, parseQuantity, wholeValue } from '../../machinery/values/quantity.ts'
import { allContainers, type Container, type Pod, specOf } from '../pod-types.ts'

/** Values that a pod's fields refer to beside the pod itself. */
export interface FieldSources {
  readonly podIps: readonly string[]
  readonly hostIps: readonly string[]
  readonly nodeName: string
}

/** The value of `fieldRef.fieldPath`. Throws an Error with upstream's message for an unsupported path. */
export function fieldValue(pod: Pod, path: string, { podIps, hostIps, nodeName }: FieldSources): string {
  const { name = '', namespace = '', uid = '', labels = {}, annotations = {} } = pod.metadata
  const member = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (member) return (member[1] === 'labels' ? labels : annotations)[member[2]!] ?? ''
  switch (path) {
    case 'metadata.name':
      return name
    case 'metadata.namespace':
      return namespace
    case 'metadata.uid':
      return uid
    case 'metadata.labels':
      return formatMap(labels)
    case 'metadata.annotations':
      return formatMap(annotations)
    case 'spec.nodeName':
      return nodeName
    case 'spec.serviceAccountName':
      return specOf(pod).serviceAccountName ?? ''
    case 'status.hostIP':
      return hostIps[0] ?? ''
    case 'status.hostIPs':
      return hostIps.join(',')
    case 'status.podIP':
      return podIps[0] ?? ''
    case 'status.podIPs':
      return podIps.join(',')
  }
  throw new Error(`unsupported fieldPath: ${path}`)
}

/** Lines of `key="value"`, sorted, as files of the downward API have them. */
const formatMap = (map: Readonly<Record<string, string>>): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${goQuote(map[key]!)}`)
    .join('\n')

type ResourceSelector = { readonly containerName?: string; readonly resource: string; readonly divisor?: string }
type Amounts = Readonly<Record<string, string>>

/**
 * The value of `resourceFieldRef`, in units of the divisor and rounded up. A missing limit is the node's allocatable
 * amount. Throws an Error for an unknown container or resource.
 */
export function resourceValue(
  pod: Pod,
  container: Container,
  { containerName, resource, divisor = '1' }: ResourceSelector,
  allocatable: Amounts,
): string {
  const of = containerName ? allContainers(pod).find(({ name }) => name === containerName) : container
  if (!of) throw new Error(`container ${containerName} not found`)
  const [, list, name = ''] = /^(limits|requests)\.(.+)$/.exec(resource) ?? []
  if (!list) throw new Error(`unsupported container resource : ${resource}`)
  const { limits = {}, requests = {} } = of.resources ?? {}
  const amount = list === 'limits' ? (limits[name] ?? allocatable[name] ?? '0') : (requests[name] ?? '0')
  return name === 'cpu'
    ? quotient(milliValue(amount), milliValue(unit(divisor)))
    : quotient(wholeValue(amount), wholeValue(unit(divisor)))
}

/** A divisor of zero means one. */
const unit = (divisor: string): string => (parseQuantity(divisor).nano === 0n ? '1' : divisor)

const quotient = (value: bigint, divisor: bigint): string => String((value + divisor - 1n) / divisor)
