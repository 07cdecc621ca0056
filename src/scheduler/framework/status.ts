/**
 * What a plug-in answers where it does not simply agree: a code, and the reasons that users read word for word.
 * Agreement is `undefined`.
 */

/**
 * - `Unschedulable`: not as things are; evicting pods may help.
 * - `UnschedulableAndUnresolvable`: evicting pods does not help.
 * - `Pending`: waits for something outside, which the pod's events will tell of.
 * - `Wait` (Permit only): binding waits until the plug-in allows it.
 * - `Skip`: the plug-in has nothing to say about this pod.
 * - `Error`: something went wrong; the pod is tried again after its back-off.
 */
export type Code = 'Error' | 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Wait' | 'Skip'

export interface Status {
  readonly code: Code
  readonly reasons: readonly string[]
  /** What went wrong, where the code is `Error`. */
  readonly cause?: unknown
  /** How long binding may wait, where the code is `Wait`. */
  readonly timeoutMs?: number
}

/** A status with the plug-in that gave it. */
export interface Refusal {
  readonly plugin: string
  readonly status: Status
}

/** The plug-in has nothing to say about this pod: its later steps are left out. */
export const skip: Status = { code: 'Skip', reasons: [] }

export const unschedulable = (...reasons: readonly string[]): Status => ({ code: 'Unschedulable', reasons })
export const unresolvable = (...reasons: readonly string[]): Status => ({
  code: 'UnschedulableAndUnresolvable',
  reasons,
})
export const pending = (...reasons: readonly string[]): Status => ({ code: 'Pending', reasons })
export const wait = (timeoutMs: number): Status => ({ code: 'Wait', reasons: [], timeoutMs })

/** Something went wrong. What plug-ins throw becomes this. */
export const failed = (cause: unknown): Status => ({
  code: 'Error',
  reasons: [cause instanceof Error ? cause.message : String(cause)],
  cause,
})

/** Whether the pod is refused by a rule, and not because something went wrong. */
export const isRejected = ({ code }: Status): boolean =>
  code === 'Unschedulable' || code === 'UnschedulableAndUnresolvable' || code === 'Pending'
