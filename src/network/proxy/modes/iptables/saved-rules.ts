/** Reads the output of `iptables-save`: which chains and rules each table has. */

/** A table as saved. Rules are full lines (`-A CHAIN …`). */
export interface SavedTable {
  readonly chains: ReadonlySet<string>
  readonly rules: readonly string[]
}

const none: SavedTable = { chains: new Set(), rules: [] }

/** @example savedTable(await iptables.save(), 'nat').chains.has('KUBE-SERVICES') */
export function savedTable(saved: string, table: string): SavedTable {
  const start = saved.startsWith(`*${table}\n`) ? 0 : saved.indexOf(`\n*${table}\n`)
  if (start < 0) return none
  const end = saved.indexOf('\nCOMMIT', start + 1)
  const chains = new Set<string>()
  const rules: string[] = []
  for (const line of saved.slice(start, end < 0 ? undefined : end).split('\n'))
    if (line.startsWith(':')) chains.add(line.slice(1, line.indexOf(' ')))
    else if (line.startsWith('-A ')) rules.push(line)
  return { chains, rules }
}

/** True if the table has the rule, with its words in any order: versions of iptables print matches differently. */
export function hasRule({ rules }: SavedTable, chain: string, rule: string): boolean {
  const wanted = sortedWords(`-A ${chain} ${rule}`)
  const start = `-A ${chain} `
  return rules.some((saved) => saved.startsWith(start) && sortedWords(saved) === wanted)
}

/** iptables-save omits quotes where it can. */
const sortedWords = (rule: string): string => rule.replaceAll('"', '').split(' ').sort().join(' ')
