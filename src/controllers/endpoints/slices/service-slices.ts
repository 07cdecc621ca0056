/** Plans the slices of a Service from its pods and writes them. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type EndpointSlice, type Node, nodes, type Service } from '../../../client/kinds.ts'
import { isConflict, isNamespaceTerminating, messageOf } from '../../api-errors.ts'
import { podsOf } from '../service-pods.ts'
import { TriggerTimes, withTriggerTime } from '../trigger-times.ts'
import { ServiceHints } from './hints/service-hints.ts'
import type { ServiceSliceMetrics } from './metrics.ts'
import { MissingNodes } from './missing-nodes.ts'
import { addressTypesOf, planSlices } from './pod-endpoints.ts'
import { mergePlans, reuseSlices, type SlicePlan } from './slice.ts'
import type { SliceWriter } from './slice-writer.ts'

export class ServiceSlices {
  readonly hints = new ServiceHints()
  readonly missingNodes = new MissingNodes()
  readonly #times = new TriggerTimes()
  readonly #writer: SliceWriter
  readonly #metrics: ServiceSliceMetrics
  readonly #max: number

  /** `max`: maximum number of endpoints in a slice. */
  constructor(writer: SliceWriter, metrics: ServiceSliceMetrics, max: number) {
    this.#writer = writer
    this.#metrics = metrics
    this.#max = max
  }

  async sync(service: Service, existing: readonly EndpointSlice[], context: ReconcileContext): Promise<void> {
    const key = keyOf(service)
    const plan = this.#plan(service, existing, context)
    await this.#apply(service, plan, context)
    this.#metrics.observePlan(key, existing, plan, this.#max)
    this.#metrics.observeChanges(key, service, plan.create.length + plan.update.length + plan.remove.length)
  }

  /** Forgets a deleted Service: the garbage collector deletes the slices by their owner references. */
  forget(key: string): void {
    this.#writer.forget(key)
    this.#times.forget(key)
    this.hints.forget(key)
  }

  /** Plans the slices of all address types. */
  #plan(service: Service, existing: readonly EndpointSlice[], context: ReconcileContext): SlicePlan {
    const key = keyOf(service)
    const pods = podsOf(context.caches, service)
    const time = this.#times.next(key, service, pods)
    const types = addressTypesOf(service)
    const nodeOf = (name: string): Node | undefined => context.caches.get(nodes, '', name)
    const plans = types.map((addressType) => {
      const ofType = existing.filter((slice) => slice.addressType === addressType)
      const planned = planSlices({ service, pods, nodeOf, existing: ofType, addressType, max: this.#max })
      this.missingNodes.add(planned.missingNodes, key)
      const hinted = this.hints.apply(service, planned.plan, addressType, context)
      return withTriggerTimes(reuseSlices(hinted, service), time)
    })
    const remove = existing.filter(({ addressType }) => !types.some((type) => type === addressType))
    return mergePlans([...plans, { create: [], update: [], remove, unchanged: [] }])
  }

  async #apply(service: Service, plan: SlicePlan, context: ReconcileContext): Promise<void> {
    const key = keyOf(service)
    // Slices are deleted with their Service: new ones would delay that.
    const possible = service.metadata.deletionTimestamp ? { ...plan, create: [] } : plan
    try {
      await this.#writer.apply(key, possible, context)
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
  const withTime = <T extends SlicePlan['create'][number]>(slice: T): T => ({
    ...slice,
    metadata: { ...slice.metadata, annotations: withTriggerTime(slice.metadata.annotations, time) },
  })
  return { ...rest, create: create.map(withTime), update: update.map(withTime) }
}
