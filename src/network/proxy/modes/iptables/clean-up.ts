/** Removes all chains and jumps of kube-proxy in one variant of iptables. What the kubelet also has remains. */
import type { IptablesPrograms } from '../../../iptables/iptables-programs.ts'
import { RestoreText } from '../../../iptables/restore-text.ts'
import { countRule, parseSaved, type SavedTables } from '../../../iptables/saved-rules.ts'
import { isChainOfPort } from './rules/chain-names.ts'
import { canaryChain, type Jump, jumps, sharedChains } from './rules/fixed-rules.ts'

/** Jumps and chains that another mode uses as well, and writes itself. */
export interface RetainedRules {
  readonly jumps: readonly Jump[]
  readonly chains: Readonly<Record<'filter' | 'nat', ReadonlySet<string>>>
}

const nothing: RetainedRules = { jumps: [], chains: { filter: new Set(), nat: new Set() } }

export async function cleanUpRules(programs: IptablesPrograms): Promise<void> {
  const text = new RestoreText()
  addRemoval(text, parseSaved(await programs.save()))
  const input = text.toString()
  if (input !== '') await programs.restore(input)
}

/** Adds the removal of what `tables` have. */
export function addRemoval(text: RestoreText, tables: SavedTables, retained: RetainedRules = nothing): void {
  for (const { table, from, rule, isOfKubelet } of jumps) {
    const isRetained =
      isOfKubelet || retained.jumps.some((other) => other.table === table && other.from === from && other.rule === rule)
    const count = isRetained ? 0 : countRule(tables[table], from, rule)
    text.lines(table, Array<string>(count).fill(`-D ${from} ${rule}`))
  }
  for (const table of ['filter', 'nat', 'mangle'] as const) {
    const shared: readonly string[] = table === 'mangle' ? [] : sharedChains[table]
    for (const chain of tables[table].chains)
      if (chain === canaryChain || shared.includes(chain) || (table === 'nat' && isChainOfPort(chain)))
        if (table === 'mangle' || !retained.chains[table].has(chain)) text.deleteChain(table, chain)
  }
}
