/** A goroutine of a dump: its heading says what it does and for how long, its stack where. */
import type { Frame, Location } from './frame.ts'
import type { FunctionName } from './function-name.ts'

export interface CreatedBy extends Location {
  readonly function: FunctionName
  /** Which goroutine that was; told since Go 1.21. */
  readonly goroutine?: number
}

export interface Heading {
  /** Undefined for a stack of a log, which does not say whose it is. */
  readonly id?: number
  /** `running`, `chan receive`, `sync.Mutex.Lock`, … */
  readonly state: string
  /** How long it waits; 0 is less than one. */
  readonly minutes: number
  readonly lockedToThread: boolean
  /** What else is told: `synctest bubble 3`, `scan`, labels. */
  readonly notes: readonly string[]
  /** Addresses of its structures in the runtime, and its thread's; told since Go 1.23 where all frames are. */
  readonly gp?: string
  readonly m?: string
}

export interface Goroutine extends Heading {
  readonly frames: Frame[]
  createdBy?: CreatedBy
  /** Frames that were left out: how many, or true where that is not told. */
  elided?: number | true
  /** It ran on another thread: its stack is not known. */
  unavailable?: boolean
  /** Stacks of those that created it (GODEBUG=tracebackancestors). */
  ancestors?: { readonly goroutine: number; readonly frames: Frame[] }[]
}

const headingPattern = /^goroutine (\d+)(?: gp=(\S+))?(?: m=(\S+))?(?: mp=\S+)? \[(.*)\](.*):\s*$/

/** `goroutine 7 [chan receive, 5 minutes, locked to thread]:`; undefined for other lines. */
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
  // A collection that looks at the stack, a bubble of a test, a leak that Go itself found: none of them is what it
  // waits for.
  const state = first.replace(/ \((scan|durable|leaked)\)/g, (_, note: string) => {
    notes.push(note)
    return ''
  })
  return { id: Number(id), state, minutes, lockedToThread, notes, ...(gp && { gp }), ...(m && { m }) }
}
