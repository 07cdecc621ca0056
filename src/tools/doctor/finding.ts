/** What `t8s doctor` found out about one part of this machine. */

/** `problem`: something does not work until the user acts; `hint`: clusters work, but something is missing or left. */
export type Severity = 'good' | 'hint' | 'problem'

export interface Finding {
  readonly severity: Severity
  /** A clause that names the thing and its state: `port 6443 is free`. */
  readonly text: string
  /** What to do, as a command or an imperative; always there unless all is good. */
  readonly next?: string
}

export const good = (text: string): Finding => ({ severity: 'good', text })
export const hint = (text: string, next: string): Finding => ({ severity: 'hint', text, next })
export const problem = (text: string, next: string): Finding => ({ severity: 'problem', text, next })
