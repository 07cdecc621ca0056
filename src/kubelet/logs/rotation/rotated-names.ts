/** Names of log files that were rotated away: `0.log.20260131-235959`, and `.gz` when compressed, as upstream's. */

const suffix = /\.(\d{8}-\d{6})(\.gz)?$/

/** The time in the name of a rotated file, as text that can be compared; undefined for the current file. */
export const rotationTime = (name: string): string | undefined => suffix.exec(name)?.[1]

export const isArchived = (name: string): boolean => name.endsWith('.gz')

/** The rotated files of the log `name` among the names in its folder, oldest first, one for each time. */
export function rotatedNames(name: string, all: readonly string[]): string[] {
  const byTime = new Map<string, string>()
  for (const one of all) {
    const time = one.startsWith(`${name}.`) ? rotationTime(one) : undefined
    // While a file is being compressed both exist: the complete one counts.
    if (time && one.replace(suffix, '') === name && !(byTime.has(time) && isArchived(one))) byTime.set(time, one)
  }
  return [...byTime].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

/** `20260131-235959` in the node's time zone. */
export function rotationSuffix(time: Date): string {
  const digits = (value: number): string => String(value).padStart(2, '0')
  const day = `${time.getFullYear()}${digits(time.getMonth() + 1)}${digits(time.getDate())}`
  return `${day}-${digits(time.getHours())}${digits(time.getMinutes())}${digits(time.getSeconds())}`
}
