/** What V8 is told later, of a process that has grown large or has worked for long (docs/decisions/0010). */
import { setFlags } from './v8-flags.ts'
import { workedMs } from './worked-ms.ts'

const lookMs = 5_000
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
  // Turbofan takes seconds for all that a server does, which it earns in a long life only.
  { isDue: ({ workedMs }) => workedMs >= 20_000, flags: ['--turbofan', '--invocation-count-for-turbofan=3000'] },
]

let pending = adaptations

/** The flags of adaptations that are due for the first time. What was once due stays so. */
export function flagsDue(state: ProcessState): string[] {
  const due = pending.filter((adaptation) => adaptation.isDue(state))
  if (due.length > 0) pending = pending.filter((adaptation) => !due.includes(adaptation))
  return due.flatMap(({ flags }) => flags)
}

/**
 * Looks at this process now and then, until all has been told. Flags are the same for all threads: one of them does it.
 */
export function adaptFlags(): void {
  const timer = setInterval(() => {
    setFlags(...flagsDue({ resident: process.memoryUsage.rss(), workedMs: workedMs(process.cpuUsage()) }))
    if (pending.length === 0) clearInterval(timer)
  }, lookMs).unref()
}
