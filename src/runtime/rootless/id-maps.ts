/** The users and groups of a user namespace: its root is the user that makes it, the others come from `/etc/subuid`. */

/** IDs from `inside` are those from `outside` of the machine. */
export interface IdMap {
  readonly inside: number
  readonly outside: number
  readonly length: number
}

/**
 * The maps of a user by the text of `/etc/subuid` or `/etc/subgid`, where ranges belong to names or numbers. Lines that
 * are not valid are ignored, as by newuidmap. Without a range, only root exists.
 */
export function idMaps(id: number, owners: readonly string[], ranges: string): IdMap[] {
  const maps: IdMap[] = [{ inside: 0, outside: id, length: 1 }]
  let inside = 1
  for (const line of ranges.split('\n')) {
    const [owner = '', start = '', count = ''] = line.trim().split(':')
    if (!owners.includes(owner) || !isNumber(start) || !isNumber(count)) continue
    const length = Number(count)
    if (length === 0) continue
    maps.push({ inside, outside: Number(start), length })
    inside += length
  }
  return maps
}

const isNumber = (text: string): boolean => /^\d{1,10}$/.test(text)

/** The arguments of newuidmap and newgidmap after the process. */
export const mapArguments = (maps: readonly IdMap[]): string[] =>
  maps.flatMap(({ inside, outside, length }) => [inside, outside, length].map(String))
