/** Selects the pods of a Service and reads what its endpoints contain. */
import { type Caches, type WatchedKind, watch } from '../../client/controller/controller.ts'
import { keyOf } from '../../client/informers/informer.ts'
import { type Pod, pods, type Service, services } from '../../client/kinds.ts'
import { selectorOf } from '../../machinery/selectors/label-selector.ts'
import { labelKey, selectedPods } from '../pods/owners/selected-pods.ts'
import { hasEnded, isReady } from '../pods/phase.ts'
import type { Enqueue } from './batching.ts'

export type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]

const selectorLabels = ({ spec }: Service): (readonly [name: string, value: string])[] =>
  Object.entries(spec?.selector ?? {})

const namespaceOf = ({ metadata }: Service | Pod): string => metadata.namespace ?? ''

/** Returns true if the controllers manage the endpoints of a Service, that is, it has a selector. */
export const hasSelector = ({ spec }: Service): boolean =>
  spec?.selector !== undefined && spec.selector !== null && spec.type !== 'ExternalName'

/** Index function: Services by the first label of their selector, or by namespace if that is empty. */
function firstLabel(service: Service): string[] {
  if (!hasSelector(service)) return []
  const [first] = selectorLabels(service)
  return [first ? labelKey(namespaceOf(service), ...first) : namespaceOf(service)]
}

/** Returns the pods that a Service selects. */
export function podsOf(caches: Caches, service: Service): Pod[] {
  const requirements = selectorLabels(service).map(([key, value]) => ({ key, operator: '=' as const, values: [value] }))
  return [...selectedPods(caches, namespaceOf(service), selectorOf(requirements))]
}

/** Yields the keys of the Services that select a pod. */
function* servicesOf(caches: Caches, pod: Pod): Generator<string> {
  const namespace = namespaceOf(pod)
  const labels = pod.metadata.labels ?? {}
  const labelKeys = Object.entries(labels).map(([name, value]) => labelKey(namespace, name, value))
  for (const key of [namespace, ...labelKeys]) {
    for (const service of caches.by(services, firstLabel, key)) {
      if (selectorLabels(service).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value))
        yield keyOf(service)
    }
  }
}

/** Returns true if a pod has an address and has not ended. */
export const hasAddress = (pod: Pod): boolean =>
  !hasEnded(pod) && Boolean(pod.status?.podIP || pod.status?.podIPs?.length)

/** The pod's addresses of a family, in order. */
export const addressesOf = ({ status }: Pod, isIPv6: boolean): string[] =>
  (status?.podIPs ?? (status?.podIP ? [{ ip: status.podIP }] : []))
    .map(({ ip }) => ip)
    .filter((ip) => ip !== '' && ip.includes(':') === isIPv6)

/** The pod's host name in the Service's domain, if any. */
export const hostnameIn = ({ spec }: Pod, service: Service): string | undefined =>
  spec?.hostname && spec.subdomain === service.metadata.name ? spec.hostname : undefined

/** Resolves the target port of a Service's port; undefined if no container of the pod has a port of that name. */
export function targetPortOf({ spec }: Pod, { targetPort, port, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  if (targetPort === undefined) return port
  const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? []
  for (const { ports } of [...(spec?.containers ?? []), ...sidecars]) {
    const found = ports?.find(
      (candidate) => candidate.name === targetPort && (candidate.protocol ?? 'TCP') === protocol,
    )
    if (found) return found.containerPort
  }
  return undefined
}

/** Returns true if a change of a pod affects endpoints; most changes do not. */
function changesEndpoints(pod: Pod | undefined, old: Pod | undefined): boolean {
  if (!pod || !old) return true
  return (
    isReady(pod) !== isReady(old) ||
    hasEnded(pod) !== hasEnded(old) ||
    pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    pod.metadata.uid !== old.metadata.uid ||
    pod.spec?.nodeName !== old.spec?.nodeName ||
    pod.spec?.hostname !== old.spec?.hostname ||
    pod.spec?.subdomain !== old.spec?.subdomain ||
    addressText(pod) !== addressText(old) ||
    !sameLabels(pod.metadata.labels, old.metadata.labels)
  )
}

/** Watches pods and enqueues the Services whose endpoints change. */
export const podWatch = (notice: Enqueue): WatchedKind =>
  watch({
    resource: pods,
    keys: () => [],
    onChange(pod, old, context) {
      if (!changesEndpoints(pod, old)) return
      for (const state of [pod, old])
        if (state) for (const key of servicesOf(context.caches, state)) notice(key, context)
    },
  })

const addressText = ({ status }: Pod): string => `${status?.podIP} ${status?.podIPs?.map(({ ip }) => ip).join()}`

function sameLabels(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** Returns true if a Service has no cluster IP. */
export const isHeadless = ({ spec }: Service): boolean => !spec?.clusterIP || spec.clusterIP === 'None'
