/** How far the heaps of a process may grow before V8 collects them: small ones by as much again, those of a large process by less. */

export const growingFlag = '--heap-growing-percent='

/** All heaps together may grow by about so much; in a smaller process each by its own size. More memory is fewer collections. */
const growthBytes = 512 * 1024 * 1024
/** Less would have V8 collect all the time. */
const leastPercent = 20
/** A new percentage is told in such steps. */
const stepPercent = 10

/** The percentage for a process with so much resident memory, bytes. */
export function growingPercent(resident: number): number {
  const percent = Math.round((growthBytes * 100) / Math.max(resident, growthBytes) / stepPercent) * stepPercent
  return Math.max(percent, leastPercent)
}
