/** Builds the status of an autoscaler. */
import type { HorizontalPodAutoscaler } from '../../client/kinds.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'

export type AutoscalerStatus = NonNullable<HorizontalPodAutoscaler['status']>
type Condition = NonNullable<AutoscalerStatus['conditions']>[number]

/** Collects conditions during a reconcile. */
export class Conditions {
  #conditions: readonly Condition[]
  readonly #now: string

  /** `now` is in RFC 3339. */
  constructor(conditions: readonly Condition[] | undefined, now: string) {
    this.#conditions = conditions ?? []
    this.#now = now
  }

  set(
    type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited',
    isTrue: boolean,
    { reason, message }: { readonly reason: string; readonly message: string },
  ): void {
    const status = isTrue ? 'True' : 'False'
    const previous = this.#conditions.find((condition) => condition.type === type)
    const lastTransitionTime = previous?.status === status ? previous.lastTransitionTime : this.#now
    const condition: Condition = { type, status, reason, message, lastTransitionTime }
    this.#conditions = previous
      ? this.#conditions.map((one) => (one === previous ? condition : one))
      : [...this.#conditions, condition]
  }

  all(): Condition[] {
    return [...this.#conditions]
  }
}

/** Returns the autoscaler with the status; undefined if nothing changes. */
export function withStatus(
  scaler: HorizontalPodAutoscaler,
  status: AutoscalerStatus,
): HorizontalPodAutoscaler | undefined {
  return semanticallyEqual(scaler.status, status) ? undefined : { ...scaler, status }
}
