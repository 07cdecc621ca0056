/** Outcomes of one attempt to probe a container. */

/** The words are upstream's, which events contain. */
export type ProbeResult = 'success' | 'warning' | 'failure' | 'unknown'

export interface ProbeOutcome {
  readonly result: ProbeResult
  /** The text of the event, and of the log. */
  readonly output: string
}

export const success = (output = ''): ProbeOutcome => ({ result: 'success', output })
export const failure = (output: string): ProbeOutcome => ({ result: 'failure', output })

/** The probe could not be carried out; it does not count as a failure of the container. */
export class ProbeError extends Error {
  readonly result: ProbeResult

  constructor(message: string, result: ProbeResult = 'unknown') {
    super(message)
    this.result = result
  }
}

/** The maximum size of a captured output in bytes, as upstream. */
export const maxOutputBytes = 10 * 1024
