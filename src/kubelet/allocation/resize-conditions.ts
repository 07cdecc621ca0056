/** The conditions of pods whose resources change in place (KEP-1287): PodResizePending and PodResizeInProgress. */
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { PodCondition } from '../../node/pods/pod-types.ts'
import { type Pod, statusOf } from '../pod-types.ts'

type Type = 'PodResizePending' | 'PodResizeInProgress'

const types: readonly Type[] = ['PodResizePending', 'PodResizeInProgress']

export const isResizeCondition = ({ type }: PodCondition): boolean => types.some((one) => one === type)

interface Reason {
  readonly reason?: string
  readonly message?: string
  readonly generation: number | undefined
}

export class ResizeConditions {
  readonly #now: () => number
  readonly #conditions = new Map<string, Map<Type, PodCondition>>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** In the order in which they are reported. */
  of(uid: string): PodCondition[] {
    return types.flatMap((type) => this.find(uid, type) ?? [])
  }

  find(uid: string, type: Type): PodCondition | undefined {
    return this.#conditions.get(uid)?.get(type)
  }

  /** Takes those of a pod's status, as after a restart of the kubelet. */
  adopt(pod: Pod): void {
    for (const condition of statusOf(pod).conditions ?? [])
      if (isResizeCondition(condition)) this.#put(pod.metadata.uid ?? '', condition.type as Type, condition)
  }

  /** Returns true if reason or generation are others than before. */
  setPending(uid: string, { reason, message, generation }: Reason): boolean {
    const before = this.find(uid, 'PodResizePending')
    const shown = reason === 'Infeasible' ? reason : 'Deferred'
    this.#set(uid, 'PodResizePending', { reason: shown, message, generation })
    return before?.reason !== shown || before.observedGeneration !== generation
  }

  /**
   * A known generation stays, and a known reason without a new one. Returns true if something is other than before.
   */
  setInProgress(uid: string, { reason, message, generation }: Reason): boolean {
    const before = this.find(uid, 'PodResizeInProgress')
    this.#set(uid, 'PodResizeInProgress', {
      ...(reason === undefined ? { reason: before?.reason, message: before?.message } : { reason, message }),
      generation: before?.observedGeneration ?? generation,
    })
    const after = this.find(uid, 'PodResizeInProgress')
    return before?.reason !== after?.reason || before?.message !== after?.message
  }

  /** Returns the condition that was cleared. */
  clear(uid: string, type: Type): PodCondition | undefined {
    const known = this.find(uid, type)
    this.#conditions.get(uid)?.delete(type)
    return known
  }

  forget(uid: string): void {
    this.#conditions.delete(uid)
  }

  #set(uid: string, type: Type, { reason, message, generation }: Reason): void {
    const before = this.find(uid, type)
    const isSame = before !== undefined && before.reason === reason
    if (isSame && before.message === message && before.observedGeneration === generation) return
    this.#put(uid, type, {
      type,
      status: 'True',
      lastProbeTime: timestamp(this.#now()) as never,
      lastTransitionTime: isSame ? before.lastTransitionTime : (timestamp(this.#now()) as never),
      ...(reason && { reason }),
      ...(message && { message }),
      ...(generation !== undefined && { observedGeneration: generation }),
    })
  }

  #put(uid: string, type: Type, condition: PodCondition): void {
    const known = this.#conditions.get(uid) ?? new Map<Type, PodCondition>()
    this.#conditions.set(uid, known.set(type, condition))
  }
}
