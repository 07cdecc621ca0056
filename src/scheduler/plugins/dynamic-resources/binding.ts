/** Writes a pod's claims once its node is chosen, and reverts them if the pod is not bound. */
import { keyOf } from '../../../client/informers/object-store.ts'
import type { Handle, PodInfo } from '../../framework/index.ts'
import { Waiters } from '../waiters.ts'
import type { ResourceClaim } from './allocation/devices.ts'
import { hasBindingConditions, isReady, timeLeft } from './claims/binding-conditions.ts'
import type { ClaimTracker } from './claims/claim-tracker.ts'
import { isReservedFor } from './claims/pod-claims.ts'
import { publish, removeReservation } from './claims/publish.ts'
import { createClaim, deleteClaim, setPodStatus } from './extended/publish.ts'
import type { ExtendedClaim, Filtering } from './filtering.ts'

export class ClaimBinding {
  readonly #handle: Handle
  readonly #tracker: ClaimTracker
  readonly #timeoutMs: number
  readonly #waiters: Waiters

  /** `timeoutMs`: how long devices may take to become ready. */
  constructor(handle: Handle, tracker: ClaimTracker, timeoutMs: number) {
    this.#handle = handle
    this.#tracker = tracker
    this.#timeoutMs = timeoutMs
    this.#waiters = new Waiters(handle)
    tracker.onChange(() => this.#waiters.check())
  }

  /** Resolves when the pod can use its claims on this node; rejects when `signal` is aborted. */
  async bind(state: Filtering, pod: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    const found = state.byNode.get(node)
    const written: ResourceClaim[] = []
    for (const claim of state.claims) {
      const at = state.toAllocate.findIndex((one) => one.claim === claim)
      const current = isReservedFor(claim, pod)
        ? claim
        : await publish(claim, found?.allocations[at], pod, this.#handle)
      if (current !== claim) this.#tracker.storeWritten(current)
      written.push(current)
    }
    if (found?.extended) written.push(await this.#bindExtended(state, found.extended, pod))
    const slow = written.filter(hasBindingConditions)
    if (slow.length > 0) await this.#waitFor(slow, pod, node, signal)
  }

  async #waitFor(slow: readonly ResourceClaim[], { pod }: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    const note = `waiting for binding conditions for device on node ${node}`
    this.#handle.record({
      regarding: pod,
      type: 'Normal',
      reason: 'BindingConditionsPending',
      action: 'Scheduling',
      note,
    })
    const now = this.#handle.now()
    const leftOf = (claim: ResourceClaim): number => timeLeft(claim, this.#timeoutMs, now)
    const oldest = slow.reduce((one, other) => (leftOf(other) < leftOf(one) ? other : one))
    const left = Math.min(this.#timeoutMs, leftOf(oldest))
    await this.#waiters.until(
      () => slow.every((claim) => isReady(this.#currentOf(claim))),
      left,
      signal,
      `claim ${oldest.metadata.name} binding timeout`,
    )
  }

  /** Starts to revert the written claims. If that fails, the controller or the pod's next attempt reverts them. */
  undo(state: Filtering, pod: PodInfo): void {
    if (state.createdClaim) void this.#deleteClaim(state.createdClaim)
    for (const claim of state.claims) void this.#removeReservation(claim, pod)
  }

  async #bindExtended(
    state: Filtering,
    { claim, allocation, mappings }: ExtendedClaim,
    pod: PodInfo,
  ): Promise<ResourceClaim> {
    const { client } = this.#handle
    const made = await createClaim(claim, client)
    state.createdClaim = made
    const written = await publish(made, allocation, pod, this.#handle)
    state.createdClaim = written
    this.#tracker.storeWritten(written)
    this.#tracker.unreserve(claim)
    await setPodStatus(pod, written, mappings, client)
    return written
  }

  #currentOf(claim: ResourceClaim): ResourceClaim {
    const { namespace = '', name = '', uid } = claim.metadata
    const current = this.#tracker.get(namespace, name)
    if (current?.metadata.uid !== uid || !current)
      throw new Error(`claim ${namespace}/${name} got deleted in the meantime`)
    return current
  }

  /** Deletes a claim that was created for the pod. */
  async #deleteClaim(claim: ResourceClaim): Promise<void> {
    try {
      await deleteClaim(claim, this.#handle.client)
    } catch (error) {
      this.#handle.log(`cannot delete claim ${keyOf(claim)}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Removes the pod's reservation of a claim that others may use. */
  async #removeReservation(claim: ResourceClaim, pod: PodInfo): Promise<void> {
    const { namespace = '', name = '' } = claim.metadata
    const current = this.#tracker.get(namespace, name)
    if (!current || !isReservedFor(current, pod)) return
    try {
      await removeReservation(current, pod, this.#handle.client)
    } catch (error) {
      this.#handle.log(
        `claim ${keyOf(claim)} remains reserved for pod ${pod.key}: ` +
          `${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
}
