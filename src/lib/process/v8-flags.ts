/** Flags of V8 that this process sets for itself while it runs. */
import { setFlagsFromString } from 'node:v8'
import { isLaunched } from './launched.ts'

/**
 * Sets flags such as `--heap-growing-percent=100` for all threads, where the launcher began the process; elsewhere it
 * does nothing.
 */
export function setFlags(...flags: readonly string[]): void {
  if (isLaunched) for (const flag of flags) setFlagsFromString(flag)
}
