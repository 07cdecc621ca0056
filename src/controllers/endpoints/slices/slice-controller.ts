/**
 * Keeps the EndpointSlices of Services with a selector: addresses, states and ports of their pods, a hundred to a
 * slice.
 */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { type EndpointSlice, type Node, nodes, type Service, services } from '../../../client/kinds.ts'
import { isConflict, isNamespaceTerminating, messageOf } from '../../api-errors.ts'
import { batches } from '../batches.ts'
import { hasSelector, podsOf, watchedPods } from '../service-pods.ts'
import { TriggerTimes, withTriggerTime } from '../trigger-times.ts'
import { topologyHints, wantsTopologyHints, type ZoneShares, zoneShares } from './hints/topology.ts'
import { distributed } from './hints/traffic-distribution.ts'
import { ServiceSliceMetrics } from './metrics.ts'
import { addressTypesOf, plannedSlices, sliceManager, zoneLabel } from './pod-endpoints.ts'
import { type AddressType, joined, recycled, type SlicePlan } from './slice.ts'
import { WrittenSlices } from './written-slices.ts'

export interface SliceOptions {
  readonly concurrency: number
  /** Endpoints of a slice at most. */
  readonly max: number
  /** How long changes of pods are gathered, in milliseconds; 0 for not at all. */
  readonly batchMs: number
  /** Counts nothing that anybody sees unless said. */
  readonly metrics?: ServiceSliceMetrics
}

export function sliceController({
  concurrency,
  max,
  batchMs,
  metrics = new ServiceSliceMetrics(),
}: SliceOptions): Controller {
  const { notice, begin } = batches(batchMs)
  const written = new WrittenSlices(sliceManager, notice, metrics)
  const times = new TriggerTimes()
  /** Keys of Services whose slices have hints by topology. */
  const hinted = new Set<string>()
  /** Keys of Services with pods on nodes that are not there, by the node. */
  const waiting = new Map<string, Set<string>>()
  let shares: { readonly of: ZoneShares | undefined } | undefined

  return {
    name: 'endpointslice-controller',
    component: 'endpoint-slice-controller',
    concurrency,
    watches: [
      watch({ resource: services }),
      watchedPods(notice),
      watch({
        resource: nodes,
        keys: () => [],
        onChange(node, before, context) {
          if (node && !before) for (const key of take(waiting, node.metadata.name ?? '')) notice(key, context)
          if (capacityOf(node) === capacityOf(before)) return
          shares = undefined
          for (const service of context.caches.all(services)) {
            if (wantsTopologyHints(service)) notice(`${service.metadata.namespace}/${service.metadata.name}`, context)
          }
        },
      }),
      written.watched,
    ],
    async reconcile(key, context) {
      begin(key)
      const [namespace = '', name = ''] = key.split('/')
      const service = context.caches.get(services, namespace, name)
      if (!service) {
        // Their owner references see to the slices.
        written.forget(key)
        times.forget(key)
        hinted.delete(key)
        return
      }
      if (!hasSelector(service)) return
      const existing = written.of(key, context.caches)
      if (!existing) return metrics.synced('stale')
      try {
        await sync(key, service, existing, context)
        metrics.synced('success')
      } catch (error) {
        metrics.synced('error')
        throw error
      }
    },
  }

  async function sync(
    key: string,
    service: Service,
    existing: readonly EndpointSlice[],
    context: ReconcileContext,
  ): Promise<void> {
    const selected = podsOf(context.caches, service)
    const time = times.next(key, service, selected)
    const types = addressTypesOf(service)
    const nodeOf = (node: string): Node | undefined => context.caches.get(nodes, '', node)
    const remove = existing.filter(({ addressType }) => !types.some((type) => type === addressType))
    const plans = types.map((type) => {
      const ofType = existing.filter(({ addressType }) => addressType === type)
      const { plan, missingNodes } = plannedSlices({
        service,
        pods: selected,
        nodeOf,
        existing: ofType,
        addressType: type,
        max,
      })
      for (const node of missingNodes) waiting.set(node, (waiting.get(node) ?? new Set()).add(key))
      return stamped(recycled(withHints(service, plan, type, context), service), time)
    })
    const all = joined([...plans, { create: [], update: [], remove, unchanged: [] }])
    await carryOut(key, service, all, context)
    metrics.planned(key, existing, all, max)
    metrics.written(key, service, all.create.length + all.update.length + all.remove.length)
  }

  function withHints(
    service: Service,
    plan: SlicePlan,
    addressType: AddressType,
    { events, caches }: ReconcileContext,
  ): SlicePlan {
    const key = `${service.metadata.namespace}/${service.metadata.name}`
    if (!wantsTopologyHints(service)) {
      if (hinted.delete(key)) {
        events.record(
          service,
          'Warning',
          'TopologyAwareHintsDisabled',
          `Topology Aware Hints has been disabled, addressType: ${addressType}`,
        )
      }
      return distributed(plan, service)
    }
    shares ??= { of: zoneShares(caches.all(nodes)) }
    const { plan: result, refusal } = topologyHints(plan, shares.of, addressType)
    if (refusal) {
      hinted.delete(key)
      events.record(service, 'Warning', 'TopologyAwareHintsDisabled', refusal)
    } else if (!hinted.has(key)) {
      hinted.add(key)
      events.record(
        service,
        'Normal',
        'TopologyAwareHintsEnabled',
        `Topology Aware Hints has been enabled, addressType: ${addressType}`,
      )
    }
    return result
  }

  async function carryOut(key: string, service: Service, plan: SlicePlan, context: ReconcileContext): Promise<void> {
    // Slices of a Service that goes, go with it: new ones would be in the way.
    const possible = service.metadata.deletionTimestamp ? { ...plan, create: [] } : plan
    try {
      await written.carryOut(key, possible, context)
    } catch (error) {
      if (isNamespaceTerminating(error)) return
      // Somebody was faster: it is tried again with what they wrote.
      if (!isConflict(error)) {
        const message = `Error updating Endpoint Slices for Service ${key}: ${messageOf(error)}`
        context.events.record(service, 'Warning', 'FailedToUpdateEndpointSlices', message)
      }
      throw error
    }
  }
}

/** The plan with the time of the change on all that is written. */
function stamped({ create, update, ...rest }: SlicePlan, time: string | undefined): SlicePlan {
  const stamp = <T extends SlicePlan['create'][number]>(slice: T): T => ({
    ...slice,
    metadata: { ...slice.metadata, annotations: withTriggerTime(slice.metadata.annotations, time) },
  })
  return { ...rest, create: create.map(stamp), update: update.map(stamp) }
}

/** What of a node decides about hints. */
const capacityOf = (node: Node | undefined): string | undefined =>
  node &&
  JSON.stringify([
    node.metadata.labels?.[zoneLabel],
    node.status?.allocatable?.cpu,
    node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
  ])

function take(waiting: Map<string, Set<string>>, node: string): Iterable<string> {
  const keys = waiting.get(node) ?? []
  waiting.delete(node)
  return keys
}
