/** A goroutine of a dump: its heading with state and waiting time, and its stack. */
import type { Frame, Location } from './frame.ts'
import type { FunctionName } from './function-name.ts'

export interface CreatedBy extends Location {
  readonly function: FunctionName
  /** The creating goroutine; printed since Go 1.21. */
  readonly goroutine?: number
}

export interface Heading {
  /** Undefined for a stack from a log. */
  readonly id?: number
  /** `running`, `chan receive`, `sync.Mutex.Lock`, … */
  readonly state: string
  /** Waiting time in minutes; 0 if less than one. */
  readonly minutes: number
  readonly lockedToThread: boolean
  /** Other parts of the heading: `synctest bubble 3`, `scan`, labels. */
  readonly notes: readonly string[]
  /** Address of its runtime structure and number of its thread; printed since Go 1.23 with full tracebacks. */
  readonly gp?: string
  readonly m?: string
}

export interface Goroutine extends Heading {
  readonly frames: Frame[]
  createdBy?: CreatedBy
  /** Number of elided frames, or true if the number is not printed. */
  elided?: number | true
  /** True if it ran on another thread, so that its stack is unknown. */
  unavailable?: boolean
  /** Stacks of the goroutines that created it (GODEBUG=tracebackancestors). */
  ancestors?: { readonly goroutine: number; readonly frames: Frame[] }[]
}

const headingPattern = /^goroutine (\d+)(?: gp=(\S+))?(?: m=(\S+))?(?: mp=\S+)? \[(.*)\](.*):\s*$/

/** Parses `goroutine 7 [chan receive, 5 minutes, locked to thread]:`; undefined for other lines. */
export function goroutineHeading(line: string): Heading | undefined {
  const found = headingPattern.exec(line)
  if (!found) return undefined
  const [, id = '', gp, m, inside = '', behind = ''] = found
  const [first = '', ...more] = inside.split(', ')
  const notes = behind.trim() ? [behind.trim()] : []
  let minutes = 0
  let lockedToThread = false
  for (const part of more) {
    const waited = /^(\d+) minutes$/.exec(part)
    if (waited) minutes = Number(waited[1])
    else if (part === 'locked to thread') lockedToThread = true
    else notes.push(part)
  }
  // A stack scan, a synctest bubble or a detected leak is not the reason that it waits for.
  const state = first.replace(/ \((scan|durable|leaked)\)/g, (_, note: string) => {
    notes.push(note)
    return ''
  })
  return { id: Number(id), state, minutes, lockedToThread, notes, ...(gp && { gp }), ...(m && { m }) }
}
