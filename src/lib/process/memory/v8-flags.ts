/** Sets V8 flags at run time. */
import { setFlagsFromString } from 'node:v8'
import { isStartedByLauncher } from '../launcher.ts'

/** Sets flags such as `--heap-growing-percent=100` for all threads. Does nothing without the launcher. */
export function setFlags(...flags: readonly string[]): void {
  if (isStartedByLauncher) for (const flag of flags) setFlagsFromString(flag)
}
