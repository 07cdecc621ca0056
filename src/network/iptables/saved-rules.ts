/** Reads the output of `iptables-save`: the chains of each table, and the rules of the kernel's own chains. */
import type { Table } from './iptables-programs.ts'

export interface SavedTable {
  readonly chains: ReadonlySet<string>
  /** Rules of chains such as INPUT, as full lines (`-A INPUT …`), which others share. */
  readonly builtInRules: readonly string[]
}

const builtIn = /^-A (?:INPUT|OUTPUT|FORWARD|PREROUTING|POSTROUTING) /

export type SavedTables = Readonly<Record<Table, SavedTable>>

/** @example parseSaved(await iptables.save()).nat.chains.has('KUBE-SERVICES') */
export function parseSaved(saved: string): SavedTables {
  return { filter: parseTable(saved, 'filter'), nat: parseTable(saved, 'nat'), mangle: parseTable(saved, 'mangle') }
}

function parseTable(saved: string, table: Table): SavedTable {
  const chains = new Set<string>()
  const builtInRules: string[] = []
  const header = `*${table}\n`
  const found = saved.startsWith(header) ? 0 : saved.indexOf(`\n${header}`) + 1
  let start = found === 0 && !saved.startsWith(header) ? saved.length : found + header.length
  while (start < saved.length) {
    const next = saved.indexOf('\n', start)
    const end = next < 0 ? saved.length : next
    const kind = saved[start]
    if (kind === 'C') break
    if (kind === ':') chains.add(saved.slice(start + 1, saved.indexOf(' ', start)))
    // Most rules are those of chains of Services.
    else if (kind === '-' && saved[start + 3] !== 'K') {
      const line = saved.slice(start, end)
      if (builtIn.test(line)) builtInRules.push(line)
    }
    start = end + 1
  }
  return { chains, builtInRules }
}

/** How often a table has the rule, with its words in any order: versions of iptables print matches differently. */
export function countRule({ builtInRules }: SavedTable, chain: string, rule: string): number {
  const wanted = sortedWords(`-A ${chain} ${rule}`)
  const start = `-A ${chain} `
  return builtInRules.filter((saved) => saved.startsWith(start) && sortedWords(saved) === wanted).length
}

/** iptables-save omits quotes where it can. */
const sortedWords = (rule: string): string => rule.replaceAll('"', '').split(' ').sort().join(' ')
