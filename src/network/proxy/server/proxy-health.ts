/** The health of kube-proxy: changes are in effect in time, and the node is not about to be deleted. */
import type { Node } from '../../../client/kinds.ts'
import type { IpFamily } from '../picture/service-port.ts'

/** The cluster autoscaler sets it before it deletes a node (KEP-3836). */
const toBeDeletedTaint = 'ToBeDeletedByClusterAutoscaler'

interface FamilyState {
  /** The time of the oldest change that is not in effect; undefined if all are. */
  pendingSince: number | undefined
  /** The time of the last sync that succeeded; undefined before the first one. */
  updatedAt: number | undefined
}

export interface HealthState {
  readonly isHealthy: boolean
  /** ms since 1970: of the last sync of the family that is late, or of the latest one. 0: none yet. */
  readonly updatedAt: number
}

export class ProxyHealth {
  readonly #timeoutMs: number
  readonly #now: () => number
  readonly #families = new Map<IpFamily, FamilyState>()
  #isNodeEligible = true

  /** A change may wait for `timeoutMs`: twice the period of syncs. `now` returns ms since 1970. */
  constructor(timeoutMs: number, now: () => number) {
    this.#timeoutMs = timeoutMs
    this.#now = now
  }

  /** False if load balancers should send nothing more to this node. */
  get isNodeEligible(): boolean {
    return this.#isNodeEligible
  }

  /** The health without the node's part. A process that starts is healthy. */
  get state(): HealthState {
    const now = this.#now()
    let latest = 0
    for (const { pendingSince, updatedAt } of this.#families.values()) {
      if (updatedAt === undefined) continue
      if (pendingSince !== undefined && now - pendingSince >= this.#timeoutMs) return { isHealthy: false, updatedAt }
      latest = Math.max(latest, updatedAt)
    }
    return { isHealthy: true, updatedAt: latest }
  }

  /** Notes a change that is not in effect yet. */
  queued(family: IpFamily): void {
    const state = this.#stateOf(family)
    state.pendingSince ??= this.#now()
  }

  /** Notes a sync that succeeded. */
  updated(family: IpFamily): void {
    const state = this.#stateOf(family)
    state.pendingSince = undefined
    state.updatedAt = this.#now()
  }

  /** Reads the node's eligibility. A node that does not exist is eligible, as while it registers. */
  setNode(node: Node | undefined): void {
    this.#isNodeEligible =
      !node?.metadata.deletionTimestamp && !node?.spec?.taints?.some(({ key }) => key === toBeDeletedTaint)
  }

  #stateOf(family: IpFamily): FamilyState {
    const known = this.#families.get(family) ?? { pendingSince: undefined, updatedAt: undefined }
    this.#families.set(family, known)
    return known
  }
}
