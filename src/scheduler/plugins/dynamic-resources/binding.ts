/**
 * Writes a pod's claims once its node is known, and takes back what was written for one that cannot be bound after all.
 */
import { keyOf } from '../../../client/informers/object-store.ts'
import type { Handle, PodInfo } from '../../framework/index.ts'
import { Waiters } from '../waiters.ts'
import type { ResourceClaim } from './allocation/devices.ts'
import { hasBindingConditions, isReady, timeLeft } from './claims/binding-conditions.ts'
import type { ClaimTracker } from './claims/claim-tracker.ts'
import { isReservedFor } from './claims/pod-claims.ts'
import { giveBackReservation, publish } from './claims/publish.ts'
import { create, remove, tellPod } from './extended/publish.ts'
import type { ExtendedClaim, Filtering } from './filtering.ts'

export class ClaimBinding {
  readonly #handle: Handle
  readonly #tracker: ClaimTracker
  readonly #timeoutMs: number
  readonly #waiters = new Waiters()

  /** `timeoutMs` is how long devices may take to become ready. */
  constructor(handle: Handle, tracker: ClaimTracker, timeoutMs: number) {
    this.#handle = handle
    this.#tracker = tracker
    this.#timeoutMs = timeoutMs
    tracker.onChange(() => this.#waiters.look())
  }

  /** Resolves when the pod may use its claims on this node; rejects when it is called off. */
  async bind(state: Filtering, pod: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    const found = state.byNode.get(node)
    const written: ResourceClaim[] = []
    for (const claim of state.claims) {
      const at = state.toAllocate.findIndex((one) => one.claim === claim)
      const current = isReservedFor(claim, pod)
        ? claim
        : await publish(claim, found?.allocations[at], pod, this.#handle)
      if (current !== claim) this.#tracker.wrote(current)
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

  /**
   * Begins to take back what was written. Should this fail, the controller does the same, or the pod's next attempt.
   */
  undo(state: Filtering, pod: PodInfo): void {
    if (state.made) void this.#takeAway(state.made)
    for (const claim of state.claims) void this.#giveBack(claim, pod)
  }

  async #bindExtended(
    state: Filtering,
    { claim, allocation, mappings }: ExtendedClaim,
    pod: PodInfo,
  ): Promise<ResourceClaim> {
    const { client } = this.#handle
    const made = await create(claim, client)
    state.made = made
    const written = await publish(made, allocation, pod, this.#handle)
    state.made = written
    this.#tracker.wrote(written)
    this.#tracker.giveUp(claim)
    await tellPod(pod, written, mappings, client)
    return written
  }

  #currentOf(claim: ResourceClaim): ResourceClaim {
    const { namespace = '', name = '', uid } = claim.metadata
    const current = this.#tracker.get(namespace, name)
    if (current?.metadata.uid !== uid || !current)
      throw new Error(`claim ${namespace}/${name} got deleted in the meantime`)
    return current
  }

  /** A claim that was made for the pod. */
  async #takeAway(claim: ResourceClaim): Promise<void> {
    try {
      await remove(claim, this.#handle.client)
    } catch (error) {
      this.#handle.log(
        `claim ${keyOf(claim)} could not be removed: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }

  /** A claim that others may use. */
  async #giveBack(claim: ResourceClaim, pod: PodInfo): Promise<void> {
    const { namespace = '', name = '' } = claim.metadata
    const current = this.#tracker.get(namespace, name)
    if (!current || !isReservedFor(current, pod)) return
    try {
      await giveBackReservation(current, pod, this.#handle.client)
    } catch (error) {
      this.#handle.log(
        `claim ${keyOf(claim)} stays reserved for pod ${pod.key}: ` +
          `${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
}
