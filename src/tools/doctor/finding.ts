/** The result of a check of `t8s doctor`. */

/** `problem`: something does not work until the user acts; `hint`: clusters work, but something is missing or left. */
export type Severity = 'good' | 'hint' | 'problem'

export interface Finding {
  readonly severity: Severity
  /** A clause that names the thing and its state: `port 6443 is free`. */
  readonly text: string
  /** The remedy, as a command or an imperative. Absent if all is good. */
  readonly next?: string
}

export const good = (text: string): Finding => ({ severity: 'good', text })
export const hint = (text: string, next: string): Finding => ({ severity: 'hint', text, next })
export const problem = (text: string, next: string): Finding => ({ severity: 'problem', text, next })
