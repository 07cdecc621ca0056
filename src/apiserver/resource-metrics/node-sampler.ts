/**
 * Reads the usage of nodes when it is requested, and caches it for a short time. A node that does not answer delays the
 * first request only: until it answers again, requests do not wait for it.
 */

import type { NodeSample } from './node-sample.ts'
import { Slots } from './slots.ts'

export interface NodeSamplerOptions<Node> {
  /** Reads the usage of a node. Rejects if it is not reachable in time. */
  readonly fetch: (node: Node) => Promise<NodeSample>
  readonly log: (line: string) => void
  readonly now: () => number
}

interface NodeState {
  readonly uid: string
  sample: NodeSample | undefined
  /** The time of `sample`, in ms. */
  sampledAt: number
  /** The last attempt failed. */
  isFailing: boolean
  /** The end of the last attempt, in ms. */
  triedAt: number
  attempt: Promise<void> | undefined
}

/** How long a sample is returned without a new one, in ms. */
const freshMs = 5_000
/** How long a sample is returned while the kubelet does not answer, in ms. */
const staleMs = 15_000
/** A node whose usage is not requested for this time is forgotten, in ms. */
const forgetMs = 5 * 60_000
/** Concurrent requests to nodes that have answered, and to those that have not. */
const healthySlots = 64
const failingSlots = 8

export class NodeSampler<Node extends { readonly metadata: { readonly name?: string; readonly uid?: string } }> {
  readonly #options: NodeSamplerOptions<Node>
  readonly #states = new Map<string, NodeState>()
  readonly #healthy = new Slots(healthySlots)
  readonly #failing = new Slots(failingSlots)
  #prunedAt = 0

  constructor(options: NodeSamplerOptions<Node>) {
    this.#options = options
  }

  /** Resolves with the usage of a node; undefined if its kubelet does not answer. */
  async sample(node: Node): Promise<NodeSample | undefined> {
    this.#prune()
    const state = this.#stateOf(node)
    if (state.sample && this.#age(state.sampledAt) < freshMs) return state.sample
    const isBackingOff = state.isFailing && this.#age(state.triedAt) < freshMs
    if (!state.attempt && !isBackingOff) state.attempt = this.#attempt(node, state)
    if (!state.isFailing) await state.attempt
    return this.#age(state.sampledAt) < staleMs ? state.sample : undefined
  }

  #age(time: number): number {
    return this.#options.now() - time
  }

  #stateOf({ metadata: { name = '', uid = '' } }: Node): NodeState {
    const known = this.#states.get(name)
    if (known?.uid === uid) return known
    const past = Number.NEGATIVE_INFINITY
    const state = { uid, sample: undefined, sampledAt: past, isFailing: false, triedAt: past, attempt: undefined }
    this.#states.set(name, state)
    return state
  }

  /** Never rejects. */
  async #attempt(node: Node, state: NodeState): Promise<void> {
    const { fetch, log, now } = this.#options
    try {
      state.sample = await (state.isFailing ? this.#failing : this.#healthy).run(() => fetch(node))
      state.sampledAt = now()
      state.isFailing = false
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (!state.isFailing) log(`the usage of node ${node.metadata.name} cannot be read: ${reason}`)
      state.isFailing = true
    } finally {
      state.triedAt = now()
      state.attempt = undefined
    }
  }

  #prune(): void {
    if (this.#age(this.#prunedAt) < forgetMs) return
    this.#prunedAt = this.#options.now()
    for (const [name, { triedAt, attempt }] of this.#states)
      if (!attempt && this.#age(triedAt) > forgetMs) this.#states.delete(name)
  }
}
