/**
 * VolumeBinding: schedules a pod where its volumes are or can be; binds or provisions volumes with delayed binding for
 * the node (KEP-490).
 */
import { volumeClass } from '../../../../api/core/storage/binding/storage-class.ts'
import {
  type CSIStorageCapacity,
  csiDrivers,
  csiStorageCapacities,
  nodes as nodesResource,
  type PersistentVolume,
  persistentVolumeClaims,
  persistentVolumes,
  pods as podsResource,
  storageClasses,
} from '../../../../client/kinds.ts'
import { type FieldError, invalidValue } from '../../../../machinery/validation/field-error.ts'
import {
  failed,
  type Handle,
  type Plugin,
  type PodInfo,
  pluginFactory,
  type Status,
  skip,
  unresolvable,
} from '../../../framework/index.ts'
import { Assumed } from '../../assumed.ts'
import { Waiters } from '../../waiters.ts'
import { claimsOf } from '../pod-volumes.ts'
import { type SortedClaims, sortClaims } from './claims.ts'
import { findVolumes, type PodVolumes } from './find-volumes.ts'
import { events } from './hints.ts'
import { assume, type CurrentObjects, forget, isBindingComplete, write } from './publish.ts'
import { type ShapePoint, scoreVolumes } from './scoring.ts'

export interface VolumeBindingArgs {
  readonly bindTimeoutSeconds: number
  /** Scores by utilization. Default: empty, volumes are not scored. */
  readonly shape: readonly ShapePoint[]
}

interface Filtering {
  readonly claims: SortedClaims
  /** The volumes of the pod by node. */
  readonly byNode: Map<string, PodVolumes>
}

export const volumeBinding = pluginFactory<VolumeBindingArgs>({
  name: 'VolumeBinding',
  args: {
    fields: {
      bindTimeoutSeconds: { kind: 'integer', format: 'int64' },
      shape: { kind: 'array', items: { kind: 'any' } },
    },
    withDefaults: (given) => ({ bindTimeoutSeconds: 600, shape: [], ...given }),
    validate: ({ bindTimeoutSeconds, shape }, path) => [
      ...(bindTimeoutSeconds < 0
        ? [
            invalidValue(
              `${path}.bindTimeoutSeconds`,
              bindTimeoutSeconds,
              'invalid BindTimeoutSeconds, should not be a negative value',
            ),
          ]
        : []),
      ...shapeFaults(shape, `${path}.shape`),
    ],
  },
  make,
})

function shapeFaults(shape: readonly ShapePoint[], path: string): FieldError[] {
  return shape.flatMap(({ utilization, score }, at) => {
    const errors: FieldError[] = []
    if (!(utilization >= 0 && utilization <= 100))
      errors.push(invalidValue(`${path}[${at}].utilization`, utilization, 'not in valid range [0, 100]'))
    if (!(score >= 0 && score <= 10))
      errors.push(invalidValue(`${path}[${at}].score`, score, 'not in valid range [0, 10]'))
    if (at > 0 && utilization <= (shape[at - 1]?.utilization ?? 0))
      errors.push(invalidValue(`${path}[${at}].utilization`, utilization, 'values must be sorted in increasing order'))
    return errors
  })
}

const unboundImmediate = unresolvable('pod has unbound immediate PersistentVolumeClaims')
const byClass = (volume: PersistentVolume): readonly string[] => [volumeClass(volume)]
const byCapacityClass = ({ storageClassName }: CSIStorageCapacity): readonly string[] => [storageClassName]

function make({ bindTimeoutSeconds, shape }: VolumeBindingArgs, handle: Handle): Plugin<Filtering, Filtering> {
  const lists = {
    claims: handle.lister(persistentVolumeClaims),
    volumes: handle.lister(persistentVolumes),
    classes: handle.lister(storageClasses),
    drivers: handle.lister(csiDrivers),
    capacities: handle.lister(csiStorageCapacities),
    nodes: handle.lister(nodesResource),
    pods: handle.lister(podsResource),
  }
  const assumed = { claims: new Assumed(lists.claims), volumes: new Assumed(lists.volumes) }
  const storage = {
    volume: (name: string) => assumed.volumes.get('', name),
    *volumesOf(className: string) {
      for (const volume of lists.volumes.by(byClass, className)) yield assumed.volumes.of(volume)
    },
    storageClass: (name: string) => lists.classes.get('', name),
  }
  const provisioners = {
    driver: (name: string) => lists.drivers.get('', name),
    capacitiesOf: (className: string) => lists.capacities.by(byCapacityClass, className),
  }
  const now: CurrentObjects = {
    node: (name) => lists.nodes.get('', name),
    pod: (namespace, name) => lists.pods.get(namespace, name),
    claim: (namespace, name) => assumed.claims.get(namespace, name),
    volume: (name) => assumed.volumes.get('', name),
  }
  const waiters = new Waiters()
  for (const list of [lists.claims, lists.volumes]) list.onChange(() => waiters.check())
  lists.pods.onChange((after) => {
    if (!after) waiters.check()
  })

  return {
    events,

    preFilter(pod) {
      const found = claimsOf(pod, assumed.claims)
      if (found.length === 0) return skip
      for (const one of found) if ('missing' in one) return unresolvable(one.missing)
      const claims = sortClaims(
        found.flatMap((one) => ('claim' in one ? [one.claim] : [])),
        storage,
      )
      return claims.immediate.length > 0 ? unboundImmediate : { state: { claims, byNode: new Map() } }
    },

    filter({ claims: { bound, delayed }, byNode }, _pod, node): Status | undefined {
      const found = findVolumes(bound, delayed, node.node, provisioners)
      if ('reasons' in found) return unresolvable(...found.reasons)
      byNode.set(node.name, found)
      return undefined
    },

    preScore: (_pod, _nodes, state) =>
      state && shape.length > 0 && state.claims.delayed.length > 0 ? { state } : skip,
    score({ byNode }, _pod, node) {
      const found = byNode.get(node.name)
      return found ? scoreVolumes(found, shape) : 0
    },

    reserve(state, _pod, node) {
      const found = state?.byNode.get(node)
      if (found) assume(found, node, assumed)
      return undefined
    },
    unreserve(state, _pod, node) {
      const found = state?.byNode.get(node)
      if (found) forget(found, assumed)
    },
    needsPreBind: (state, _pod, node) => hasWork(state?.byNode.get(node)),
    preBind: (state, pod, node, signal) => bindVolumes(state?.byNode.get(node), pod, node, signal),
  }

  async function bindVolumes(
    found: PodVolumes | undefined,
    pod: PodInfo,
    node: string,
    signal: AbortSignal,
  ): Promise<Status | undefined> {
    if (!found || !hasWork(found)) return undefined
    try {
      await write(found, node, handle.client, assumed)
      await waiters.until(() => isBindingComplete(found, pod, node, now), bindTimeoutSeconds * 1000, signal)
      return undefined
    } catch (error) {
      return failed(
        new Error(`binding volumes: ${error instanceof Error ? error.message : String(error)}`, { cause: error }),
      )
    }
  }
}

const hasWork = (found: PodVolumes | undefined): boolean =>
  found !== undefined && found.bindings.length + found.provisions.length > 0
