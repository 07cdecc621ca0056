/** Which pods are behind a Service, and what of them its endpoints show. */
import { type Caches, type WatchedKind, watch } from '../../client/controller/controller.ts'
import { keyOf } from '../../client/informers/informer.ts'
import { type Pod, pods, type Service, services } from '../../client/kinds.ts'
import { selectorOf } from '../../machinery/selectors/label-selector.ts'
import { labelKey, selectedPods } from '../pods/owners/selected-pods.ts'
import { hasEnded, isReady } from '../pods/phase.ts'
import type { Notice } from './batches.ts'

export type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]

const selectorLabels = ({ spec }: Service): (readonly [name: string, value: string])[] =>
  Object.entries(spec?.selector ?? {})

const namespaceOf = ({ metadata }: Service | Pod): string => metadata.namespace ?? ''

/** Whether the controllers keep the endpoints of a Service: others keep those of one without a selector. */
export const hasSelector = ({ spec }: Service): boolean =>
  spec?.selector !== undefined && spec.selector !== null && spec.type !== 'ExternalName'

/** Services by the first label that they ask for; those that ask for none by their namespace. */
function firstLabel(service: Service): string[] {
  if (!hasSelector(service)) return []
  const [first] = selectorLabels(service)
  return [first ? labelKey(namespaceOf(service), ...first) : namespaceOf(service)]
}

/** The pods that a Service selects. */
export function podsOf(caches: Caches, service: Service): Pod[] {
  const requirements = selectorLabels(service).map(([key, value]) => ({ key, operator: '=' as const, values: [value] }))
  return [...selectedPods(caches, namespaceOf(service), selectorOf(requirements))]
}

/** The keys of the Services that select a pod. */
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

/** Whether a pod has an address that may be told. */
export const hasAddress = (pod: Pod): boolean =>
  !hasEnded(pod) && Boolean(pod.status?.podIP || pod.status?.podIPs?.length)

/** The pod's addresses of a family, as it tells them. */
export const addressesOf = ({ status }: Pod, isIPv6: boolean): string[] =>
  (status?.podIPs ?? (status?.podIP ? [{ ip: status.podIP }] : []))
    .map(({ ip }) => ip)
    .filter((ip) => ip !== '' && ip.includes(':') === isIPv6)

/** The name by which the Service's domain knows the pod, if it has one. */
export const hostnameIn = ({ spec }: Pod, service: Service): string | undefined =>
  spec?.hostname && spec.subdomain === service.metadata.name ? spec.hostname : undefined

/**
 * The number of the port that a Service's port leads to; undefined where it is a name that no container of the pod has.
 */
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

/** Whether what endpoints show of a pod has changed: most of what is written to a pod changes nothing of it. */
function changesEndpoints(pod: Pod | undefined, before: Pod | undefined): boolean {
  if (!pod || !before) return true
  return (
    isReady(pod) !== isReady(before) ||
    hasEnded(pod) !== hasEnded(before) ||
    pod.metadata.deletionTimestamp !== before.metadata.deletionTimestamp ||
    pod.metadata.uid !== before.metadata.uid ||
    pod.spec?.nodeName !== before.spec?.nodeName ||
    pod.spec?.hostname !== before.spec?.hostname ||
    pod.spec?.subdomain !== before.spec?.subdomain ||
    addressText(pod) !== addressText(before) ||
    !sameLabels(pod.metadata.labels, before.metadata.labels)
  )
}

/** Notices the Services whose endpoints change because a pod did. */
export const watchedPods = (notice: Notice): WatchedKind =>
  watch({
    resource: pods,
    keys: () => [],
    onChange(pod, before, context) {
      if (!changesEndpoints(pod, before)) return
      for (const state of [pod, before])
        if (state) for (const key of servicesOf(context.caches, state)) notice(key, context)
    },
  })

const addressText = ({ status }: Pod): string => `${status?.podIP} ${status?.podIPs?.map(({ ip }) => ip).join()}`

function sameLabels(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** Whether a Service has no address of its own. */
export const isHeadless = ({ spec }: Service): boolean => !spec?.clusterIP || spec.clusterIP === 'None'
