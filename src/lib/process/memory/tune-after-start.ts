/** Tuning of long-running programs after their start, when nearly all modules are loaded. */
import { flushCompileCache } from 'node:module'
import { adaptFlags } from './adapt-flags.ts'
import { setFlags } from './v8-flags.ts'

/**
 * Flags for garbage collection, pretenuring and compilation (docs/decisions/0010); adapt-flags.ts sets more later. They
 * are set after the start, since code caches, including those of Node's own modules, are only valid for the flags with
 * which they were created: otherwise each thread would compile everything.
 */
const laterFlags = [
  '--heap-growing-percent=100',
  '--no-allocation-site-pretenuring',
  // V8 also collects when idle; to save memory, it would discard code that is currently unused.
  '--no-memory-reducer-favors-memory',
  '--invocation-count-for-feedback-allocation=2',
  '--invocation-count-for-maglev=200',
  '--no-turbofan',
  // How often tiering decisions are checked; discarded code is recompiled then.
  '--invocation-count-for-turbofan=400',
]

/**
 * Writes the compile cache for the next start, and sets V8's flags. Call it when all threads have loaded their modules.
 */
export function tuneAfterStart(): void {
  // Written now, since such programs are often killed.
  flushCompileCache()
  setFlags(...laterFlags)
  adaptFlags()
}
