/** The result of a plug-in: a code, and reasons that users read as they are. Success is `undefined`. */

/**
 * - `Unschedulable`: does not fit now; evicting pods may help.
 * - `UnschedulableAndUnresolvable`: evicting pods does not help.
 * - `Pending`: waits for something outside, which the plug-in's events report.
 * - `Wait` (Permit only): binding waits until the plug-in allows it.
 * - `Skip`: the plug-in does not apply to this pod.
 * - `Error`: something failed; the pod is retried after its back-off.
 */
export type Code = 'Error' | 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Wait' | 'Skip'

/** The result of a plug-in; undefined stands for success. */
export interface Status {
  readonly code: Code
  readonly reasons: readonly string[]
  /** The error, for the code `Error`. */
  readonly cause?: unknown
  /** How long binding may wait in ms, for the code `Wait`. */
  readonly timeoutMs?: number
}

/** A status with the plug-in that returned it. */
export interface Rejection {
  readonly plugin: string
  readonly status: Status
}

/** The plug-in does not apply to this pod: its later steps are skipped. */
export const skip: Status = { code: 'Skip', reasons: [] }

/** The node is rejected; preemption may help. */
export const unschedulable = (...reasons: readonly string[]): Status => ({ code: 'Unschedulable', reasons })
/** The node is rejected, and preemption would not help. */
export const unresolvable = (...reasons: readonly string[]): Status => ({
  code: 'UnschedulableAndUnresolvable',
  reasons,
})
/** The pod waits for something outside, which the plug-in's events report. */
export const pending = (...reasons: readonly string[]): Status => ({ code: 'Pending', reasons })
/** Binding waits until the plug-in allows or rejects the pod, at most `timeoutMs`. */
export const wait = (timeoutMs: number): Status => ({ code: 'Wait', reasons: [], timeoutMs })

/** An error. Exceptions of plug-ins are converted with it. */
export const failed = (cause: unknown): Status => ({
  code: 'Error',
  reasons: [cause instanceof Error ? cause.message : String(cause)],
  cause,
})

/** Returns true if the pod was rejected by a rule, not by an error. */
export const isRejected = ({ code }: Status): boolean =>
  code === 'Unschedulable' || code === 'UnschedulableAndUnresolvable' || code === 'Pending'
