/** Sets V8 flags at run time. */
import { setFlagsFromString } from 'node:v8'
import { isStartedByLauncher } from '../launcher.ts'

/** Versions of Node with which the flags were tried: V8 prints an error for a flag that it does not know. */
const triedVersions: readonly number[] = [22, 23, 24, 25, 26]
/** Flags that only some of them know. */
const versionsOf: Readonly<Record<string, readonly number[]>> = {
  '--no-memory-reducer-favors-memory': [24],
  '--external-memory-accounted-in-global-limit': [24, 26],
}

/** Returns the flags that the V8 of a version of Node knows. */
export function flagsKnownTo(version: string, flags: readonly string[]): string[] {
  const major = Number.parseInt(version, 10)
  return flags.filter((flag) => (versionsOf[flag] ?? triedVersions).includes(major))
}

/**
 * Sets flags such as `--heap-growing-percent=100` for all threads. Does nothing without the launcher, and leaves out
 * flags that this version of Node may not know.
 */
export function setFlags(...flags: readonly string[]): void {
  if (!isStartedByLauncher) return
  for (const flag of flagsKnownTo(process.versions.node, flags)) setFlagsFromString(flag)
}
