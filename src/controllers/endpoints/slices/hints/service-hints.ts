/** Sets the hints that Services request on planned slices, and records events when topology hints begin or end. */
import type { ReconcileContext } from '../../../../client/controller/controller.ts'
import type { EventType } from '../../../../client/events/event-recorder.ts'
import { keyOf } from '../../../../client/informers/informer.ts'
import { type Node, nodes, type Service } from '../../../../client/kinds.ts'
import { zoneLabel } from '../pod-endpoints.ts'
import type { AddressType, SlicePlan } from '../slice.ts'
import { topologyHints, wantsTopologyHints, type ZoneShares, zoneShares } from './topology.ts'
import { withDistributionHints } from './traffic-distribution.ts'

type Context = Pick<ReconcileContext, 'caches' | 'events'>

export class ServiceHints {
  /** Keys of Services whose slices have topology hints. */
  readonly #hinted = new Set<string>()
  /** The shares of zones if they are known; they may be unavailable. */
  #shares: { readonly value: ZoneShares | undefined } | undefined

  /** Returns the plan with hints. */
  apply(service: Service, plan: SlicePlan, addressType: AddressType, context: Context): SlicePlan {
    const key = keyOf(service)
    const record = (type: EventType, reason: string, message: string): void =>
      context.events.record(service, type, reason, message)
    if (!wantsTopologyHints(service)) {
      if (this.#hinted.delete(key)) {
        const message = `Topology Aware Hints has been disabled, addressType: ${addressType}`
        record('Warning', 'TopologyAwareHintsDisabled', message)
      }
      return withDistributionHints(plan, service)
    }
    const hinted = topologyHints(plan, this.#zoneShares(context), addressType)
    if (hinted.problem) {
      this.#hinted.delete(key)
      record('Warning', 'TopologyAwareHintsDisabled', hinted.problem)
    } else if (!this.#hinted.has(key)) {
      this.#hinted.add(key)
      const message = `Topology Aware Hints has been enabled, addressType: ${addressType}`
      record('Normal', 'TopologyAwareHintsEnabled', message)
    }
    return hinted.plan
  }

  forget(key: string): void {
    this.#hinted.delete(key)
  }

  /** Must be called when the capacity of a node has changed. */
  resetZoneShares(): void {
    this.#shares = undefined
  }

  #zoneShares({ caches }: Context): ZoneShares | undefined {
    this.#shares ??= { value: zoneShares(caches.all(nodes)) }
    return this.#shares.value
  }
}

/** Returns true if a change of a node affects hints. */
export const affectsHints = (node: Node | undefined, old: Node | undefined): boolean =>
  capacityOf(node) !== capacityOf(old)

const capacityOf = (node: Node | undefined): string | undefined =>
  node &&
  JSON.stringify([
    node.metadata.labels?.[zoneLabel],
    node.status?.allocatable?.cpu,
    node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
  ])
