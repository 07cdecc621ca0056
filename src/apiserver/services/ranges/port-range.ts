/** The range of node ports, and the search for a free one (KEP-3668). */

/** Size of the lower band, which is used for dynamic allocation only when the rest is in use. */
const band = { least: 16, most: 128, part: 32 } as const

export interface PortRange {
  readonly first: number
  readonly last: number
  /** `30000-32767`. */
  readonly text: string
}

/** Parses `--service-node-port-range`. Throws an Error if it is invalid. */
export function parsePortRange(text: string): PortRange {
  const [, low = '', high = ''] = /^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? []
  const first = Number(low)
  const last = Number(high)
  if (!low || first < 1 || last > 65_535 || first > last)
    throw new Error(`${text} is no range of node ports: write it like 30000-32767`)
  return { first, last, text: `${first}-${last}` }
}

/**
 * Finds a free port, from a random position in the upper band, then in the lower one. Undefined if the range is full.
 */
export function findFreePort(
  { first, last }: PortRange,
  isTaken: (port: number) => boolean,
  random: () => number,
): number | undefined {
  const size = last - first + 1
  const lower = size <= band.least ? 0 : Math.min(Math.max(band.least, Math.floor(size / band.part)), band.most)
  return search(first + lower, last, isTaken, random) ?? search(first, first + lower - 1, isTaken, random)
}

function search(
  from: number,
  to: number,
  isTaken: (port: number) => boolean,
  random: () => number,
): number | undefined {
  const count = to - from + 1
  const start = Math.floor(random() * count)
  for (let i = 0; i < count; i++) {
    const port = from + ((start + i) % count)
    if (!isTaken(port)) return port
  }
  return undefined
}
