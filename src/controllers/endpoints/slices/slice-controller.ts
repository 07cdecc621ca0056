/** Maintains the EndpointSlices of Services with a selector: the addresses, conditions and ports of their pods. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { type EndpointSlice, type Node, nodes, type Service, services } from '../../../client/kinds.ts'
import { isConflict, isNamespaceTerminating, messageOf } from '../../api-errors.ts'
import { batchedQueue } from '../batching.ts'
import { hasSelector, podsOf, podWatch } from '../service-pods.ts'
import { TriggerTimes, withTriggerTime } from '../trigger-times.ts'
import { topologyHints, wantsTopologyHints, type ZoneShares, zoneShares } from './hints/topology.ts'
import { withDistributionHints } from './hints/traffic-distribution.ts'
import { ServiceSliceMetrics } from './metrics.ts'
import { addressTypesOf, planSlices, sliceManager, zoneLabel } from './pod-endpoints.ts'
import { type AddressType, mergePlans, reuseSlices, type SlicePlan } from './slice.ts'
import { SliceWriter } from './slice-writer.ts'

export interface SliceOptions {
  readonly concurrency: number
  /** Maximum number of endpoints in a slice. */
  readonly max: number
  /** Time for which changes of pods are batched, in ms; 0 for no batching. */
  readonly batchMs: number
  /** Default: metrics that are not exported. */
  readonly metrics?: ServiceSliceMetrics
}

export function sliceController({
  concurrency,
  max,
  batchMs,
  metrics = new ServiceSliceMetrics(),
}: SliceOptions): Controller {
  const { enqueue, start } = batchedQueue(batchMs)
  const writer = new SliceWriter(sliceManager, enqueue, metrics)
  const times = new TriggerTimes()
  /** Keys of Services whose slices have topology hints. */
  const hinted = new Set<string>()
  /** Keys of Services with pods on missing nodes, by node. */
  const waiting = new Map<string, Set<string>>()
  let shares: { readonly of: ZoneShares | undefined } | undefined

  return {
    name: 'endpointslice-controller',
    component: 'endpoint-slice-controller',
    concurrency,
    watches: [
      watch({ resource: services }),
      podWatch(enqueue),
      watch({
        resource: nodes,
        keys: () => [],
        onChange(node, before, context) {
          if (node && !before) for (const key of take(waiting, node.metadata.name ?? '')) enqueue(key, context)
          if (capacityOf(node) === capacityOf(before)) return
          shares = undefined
          for (const service of context.caches.all(services)) {
            if (wantsTopologyHints(service)) enqueue(`${service.metadata.namespace}/${service.metadata.name}`, context)
          }
        },
      }),
      writer.sliceWatch,
    ],
    async reconcile(key, context) {
      start(key)
      const [namespace = '', name = ''] = key.split('/')
      const service = context.caches.get(services, namespace, name)
      if (!service) {
        // The garbage collector deletes the slices by their owner references.
        writer.forget(key)
        times.forget(key)
        hinted.delete(key)
        return
      }
      if (!hasSelector(service)) return
      const existing = writer.slices(key, context.caches)
      if (!existing) return metrics.countSync('stale')
      try {
        await sync(key, service, existing, context)
        metrics.countSync('success')
      } catch (error) {
        metrics.countSync('error')
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
      const { plan, missingNodes } = planSlices({
        service,
        pods: selected,
        nodeOf,
        existing: ofType,
        addressType: type,
        max,
      })
      for (const node of missingNodes) waiting.set(node, (waiting.get(node) ?? new Set()).add(key))
      return withTriggerTimes(reuseSlices(withHints(service, plan, type, context), service), time)
    })
    const all = mergePlans([...plans, { create: [], update: [], remove, unchanged: [] }])
    await applyPlan(key, service, all, context)
    metrics.observePlan(key, existing, all, max)
    metrics.observeChanges(key, service, all.create.length + all.update.length + all.remove.length)
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
      return withDistributionHints(plan, service)
    }
    shares ??= { of: zoneShares(caches.all(nodes)) }
    const { plan: result, problem } = topologyHints(plan, shares.of, addressType)
    if (problem) {
      hinted.delete(key)
      events.record(service, 'Warning', 'TopologyAwareHintsDisabled', problem)
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

  async function applyPlan(key: string, service: Service, plan: SlicePlan, context: ReconcileContext): Promise<void> {
    // Slices are deleted with their Service: new ones would delay that.
    const possible = service.metadata.deletionTimestamp ? { ...plan, create: [] } : plan
    try {
      await writer.apply(key, possible, context)
    } catch (error) {
      if (isNamespaceTerminating(error)) return
      // On a conflict the key is retried with the new slices.
      if (!isConflict(error)) {
        const message = `Error updating Endpoint Slices for Service ${key}: ${messageOf(error)}`
        context.events.record(service, 'Warning', 'FailedToUpdateEndpointSlices', message)
      }
      throw error
    }
  }
}

/** Sets the trigger time on all written slices. */
function withTriggerTimes({ create, update, ...rest }: SlicePlan, time: string | undefined): SlicePlan {
  const stamp = <T extends SlicePlan['create'][number]>(slice: T): T => ({
    ...slice,
    metadata: { ...slice.metadata, annotations: withTriggerTime(slice.metadata.annotations, time) },
  })
  return { ...rest, create: create.map(stamp), update: update.map(stamp) }
}

/** The properties of a node that affect hints. */
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
