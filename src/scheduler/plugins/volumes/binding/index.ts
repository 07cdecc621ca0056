/**
 * VolumeBinding: schedules a pod where its volumes are or can be; binds or provisions volumes with delayed binding for
 * the node (KEP-490).
 */
import { type FieldError, invalidValue } from '../../../../machinery/validation/field-error.ts'
import {
  failed,
  type Handle,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type PreFiltered,
  pluginFactory,
  type Status,
  skip,
  unresolvable,
} from '../../../framework/index.ts'
import { Waiters } from '../../waiters.ts'
import { claimsOf } from '../pod-volumes.ts'
import { type SortedClaims, sortClaims } from './claims.ts'
import { findVolumes, type PodVolumes } from './find-volumes.ts'
import { events } from './hints.ts'
import { BindingObjects } from './objects.ts'
import { assume, forget, isBindingComplete, write } from './publish.ts'
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
  make: (args, handle) => new VolumeBinding(args, handle),
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

class VolumeBinding implements Plugin<Filtering, Filtering> {
  readonly events = events
  readonly #args: VolumeBindingArgs
  readonly #handle: Handle
  readonly #objects: BindingObjects
  readonly #waiters: Waiters

  constructor(args: VolumeBindingArgs, handle: Handle) {
    this.#args = args
    this.#handle = handle
    this.#waiters = new Waiters(handle)
    this.#objects = new BindingObjects(handle)
    this.#objects.onChange(() => this.#waiters.check())
  }

  preFilter(pod: PodInfo): PreFiltered<Filtering> | Status {
    const found = claimsOf(pod, this.#objects.assumed.claims)
    if (found.length === 0) return skip
    for (const one of found) if ('missing' in one) return unresolvable(one.missing)
    const claims = sortClaims(
      found.flatMap((one) => ('claim' in one ? [one.claim] : [])),
      this.#objects,
    )
    return claims.immediate.length > 0 ? unboundImmediate : { state: { claims, byNode: new Map() } }
  }

  filter({ claims: { bound, delayed }, byNode }: Filtering, _pod: PodInfo, node: NodeInfo): Status | undefined {
    const found = findVolumes(bound, delayed, node.node, this.#objects)
    if ('reasons' in found) return unresolvable(...found.reasons)
    byNode.set(node.name, found)
    return undefined
  }

  preScore(
    _pod: PodInfo,
    _nodes: readonly NodeInfo[],
    state: Filtering | undefined,
  ): { readonly state: Filtering } | Status {
    return state && this.#args.shape.length > 0 && state.claims.delayed.length > 0 ? { state } : skip
  }

  score({ byNode }: Filtering, _pod: PodInfo, node: NodeInfo): number {
    const found = byNode.get(node.name)
    return found ? scoreVolumes(found, this.#args.shape) : 0
  }

  reserve(state: Filtering | undefined, _pod: PodInfo, node: string): undefined {
    const found = state?.byNode.get(node)
    if (found) assume(found, node, this.#objects.assumed)
  }

  unreserve(state: Filtering | undefined, _pod: PodInfo, node: string): void {
    const found = state?.byNode.get(node)
    if (found) forget(found, this.#objects.assumed)
  }

  needsPreBind(state: Filtering | undefined, _pod: PodInfo, node: string): boolean {
    return hasWork(state?.byNode.get(node))
  }

  /** Writes the bindings, and waits until all claims are bound. */
  async preBind(
    state: Filtering | undefined,
    pod: PodInfo,
    node: string,
    signal: AbortSignal,
  ): Promise<Status | undefined> {
    const found = state?.byNode.get(node)
    if (!hasWork(found)) return undefined
    try {
      await write(found, node, this.#handle.client, this.#objects.assumed)
      await this.#waiters.until(
        () => isBindingComplete(found, pod, node, this.#objects),
        this.#args.bindTimeoutSeconds * 1000,
        signal,
      )
      return undefined
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return failed(new Error(`binding volumes: ${reason}`, { cause: error }))
    }
  }
}

const hasWork = (found: PodVolumes | undefined): found is PodVolumes =>
  found !== undefined && found.bindings.length + found.provisions.length > 0
