/** What V8 is told later, of a process that has grown large or has worked for long (docs/decisions/0010). */
import { setFlags } from './v8-flags.ts'

const megabyte = 1024 * 1024

export interface ProcessState {
  /** Bytes. */
  readonly resident: number
  /** CPU time of all threads so far. */
  readonly workedMs: number
}

interface Adaptation {
  isDue(state: ProcessState): boolean
  readonly flags: readonly string[]
}

const adaptations: readonly Adaptation[] = [
  // Buffers beside the heap make V8 collect all of it for each 64 MB of them: what is alive costs more here.
  { isDue: ({ resident }) => resident >= 640 * megabyte, flags: ['--external-memory-accounted-in-global-limit'] },
  // Turbofan takes seconds for all that a server does, and earns a few parts in a hundred.
  { isDue: ({ workedMs }) => workedMs >= 20_000, flags: ['--turbofan', '--invocation-count-for-turbofan=3000'] },
]

let pending = adaptations

/** The flags of adaptations that are due for the first time. What was once due stays so. */
export function flagsDue(state: ProcessState): string[] {
  const due = pending.filter((adaptation) => adaptation.isDue(state))
  if (due.length > 0) pending = pending.filter((adaptation) => !due.includes(adaptation))
  return due.flatMap(({ flags }) => flags)
}

/** To be called now and then, by any thread: flags are the same for all of them. */
export function adaptFlags(): void {
  if (pending.length === 0) return
  const { user, system } = process.cpuUsage()
  setFlags(...flagsDue({ resident: process.memoryUsage.rss(), workedMs: (user + system) / 1000 }))
}
