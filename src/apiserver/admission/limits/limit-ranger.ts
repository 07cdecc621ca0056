/**
 * LimitRanger: sets the default requests and limits of LimitRanges, and rejects pods and claims outside of their
 * bounds.
 */
import type { V1LimitRange, V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Container, Pod } from '../../../api/core/pod/model.ts'
import { podLimits, podRequests } from '../../../api/core/pod/resources/pod-resources.ts'
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import { setOwn } from '../../../lib/own.ts'
import type { KubeObject, Model } from '../../../machinery/object.ts'
import { Informer } from '../../registry/informer.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { type Bounds, boundFaults, claimFaults, joinFaults } from './limit-constraints.ts'

/** A LimitRange, split by type. */
interface Limits {
  readonly defaultRequests: ResourceList
  readonly defaultLimits: ResourceList
  /** Bounds of containers and pods, in the order in which violations are reported. */
  readonly pods: readonly Bounds[]
  readonly claims: readonly Bounds[]
}

/** An item as on the wire: the client's model renames `default` to `_default`. */
interface Item extends Bounds {
  readonly default?: ResourceList
  readonly defaultRequest?: ResourceList
}

export function limitRanger({ registry, find, log }: PluginSources): AdmissionPlugin {
  const pods = find('v1/pods')
  const claims = find('v1/persistentvolumeclaims')
  const ranges = new Informer<Limits>({ registry, resource: find('v1/limitranges'), read: limitsOf, log })
  return {
    name: 'LimitRanger',
    handles: ['CREATE', 'UPDATE'],
    mutate(attributes) {
      if (attributes.resource !== pods || !concernsPod(attributes)) return
      for (const limits of ranges.in(attributes.namespace)) fillIn(attributes.object as Pod, limits)
    },
    validate(attributes) {
      const { resource, namespace, subresource, object } = attributes
      if (resource === pods && concernsPod(attributes)) {
        for (const limits of ranges.in(namespace)) refuse(attributes, podFaults(object as Pod, limits))
      } else if (resource === claims && subresource === '' && !isBeingDeleted(attributes.old)) {
        const { spec } = object as Model<V1PersistentVolumeClaim>
        for (const limits of ranges.in(namespace)) {
          refuse(
            attributes,
            limits.claims.flatMap((bounds) => claimFaults(bounds, spec?.resources?.requests)),
          )
        }
      }
    },
    start: () => ranges.start(),
    stop: () => ranges.stop(),
  }
}

/** The resources of a pod are set on create and change only by `/resize`. */
const concernsPod = ({ operation, subresource, old }: AdmissionAttributes): boolean =>
  operation === 'CREATE' ? subresource === '' : subresource === 'resize' && !isBeingDeleted(old)

const isBeingDeleted = (object: KubeObject | undefined): boolean => object?.metadata.deletionTimestamp !== undefined

function refuse(attributes: AdmissionAttributes, faults: readonly string[]): void {
  if (faults.length > 0) throw forbiddenWrite(attributes, joinFaults(faults))
}

function limitsOf(object: StoredObject): Limits {
  const items: readonly Item[] = object.parse<Model<V1LimitRange>>().spec?.limits ?? []
  const of = (type: string): readonly Item[] => items.filter((item) => item.type === type)
  const containers = of('Container')
  return {
    // A LimitRange has at most one item of each type.
    defaultRequests: containers[0]?.defaultRequest ?? {},
    defaultLimits: containers[0]?.default ?? {},
    pods: items.filter(({ type }) => type === 'Container' || type === 'Pod'),
    claims: of('PersistentVolumeClaim'),
  }
}

const annotation = 'kubernetes.io/limit-ranger'

/** Sets missing defaults and lists them in an annotation. */
function fillIn(pod: Pod, limits: Limits): void {
  const notes = [
    ...(pod.spec?.containers ?? []).flatMap((container) => fillInContainer(container, limits, 'container')),
    ...(pod.spec?.initContainers ?? []).flatMap((container) => fillInContainer(container, limits, 'init container')),
  ]
  if (notes.length > 0)
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      [annotation]: `LimitRanger plugin set: ${notes.join('; ')}`,
    }
}

function fillInContainer(container: Container, { defaultRequests, defaultLimits }: Limits, what: string): string[] {
  const fill = (list: 'requests' | 'limits', defaults: ResourceList, word: string): string[] => {
    const given = container.resources?.[list] ?? {}
    const missing = Object.keys(defaults)
      .filter((name) => !Object.hasOwn(given, name))
      .sort()
    if (missing.length === 0) return []
    const filled = { ...given }
    for (const name of missing) setOwn(filled, name, defaults[name]!)
    container.resources = { ...container.resources, [list]: filled }
    return [`${missing.join(', ')} ${word} for ${what} ${container.name}`]
  }
  return [...fill('requests', defaultRequests, 'request'), ...fill('limits', defaultLimits, 'limit')]
}

function podFaults(pod: Pod, { pods }: Limits): string[] {
  const all = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]
  return pods.flatMap((bounds) => {
    if (bounds.type === 'Pod') return boundFaults(bounds, podRequests(pod), podLimits(pod))
    return all.flatMap(({ resources }) => boundFaults(bounds, resources?.requests, resources?.limits))
  })
}
