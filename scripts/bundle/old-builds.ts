/**
 * The builds whose chunks are still on disk. A program loads chunks of its own build while it runs, so the chunks of a
 * replaced build stay until no program that may have started from it is running.
 */

/** A build: when it was complete, in ms since 1970, and the names of its files. */
export interface BuildRecord {
  readonly time: number
  readonly files: readonly string[]
}

/** A program that is not found among the processes, such as a test that imports the package, ends within this time. */
const graceMs = 3600 * 1000

/**
 * Returns the builds whose chunks must stay, oldest first: the newest; those replaced in the last hour; and those that
 * a running program started from.
 * @param builds from the oldest to the newest.
 * @param starts of running programs, in ms since 1970; undefined if the system cannot list them: then a day counts.
 */
export function retainedBuilds(
  builds: readonly BuildRecord[],
  starts: readonly number[] | undefined,
  now: number,
): BuildRecord[] {
  const minimumMs = starts ? graceMs : 24 * graceMs
  return builds.filter(({ time }, index) => {
    const replaced = builds[index + 1]?.time
    if (replaced === undefined || replaced > now - minimumMs) return true
    // Start times of processes are exact to some 10 ms.
    return starts?.some((start) => start >= time - 1000 && start <= replaced + 1000) ?? false
  })
}
