/** Removes all chains and jumps of kube-proxy in one variant of iptables. What the kubelet also has remains. */
import type { IptablesPrograms } from '../../../iptables/iptables-programs.ts'
import { RestoreText } from '../../../iptables/restore-text.ts'
import { countRule, parseSaved } from '../../../iptables/saved-rules.ts'
import { isChainOfPort } from './rules/chain-names.ts'
import { canaryChain, jumps, sharedChains } from './rules/fixed-rules.ts'

export async function cleanUpRules(programs: IptablesPrograms): Promise<void> {
  const text = removal(await programs.save())
  if (text !== '') await programs.restore(text)
}

function removal(saved: string): string {
  const text = new RestoreText()
  const tables = parseSaved(saved)
  for (const { table, from, rule, isOfKubelet } of jumps) {
    const count = isOfKubelet ? 0 : countRule(tables[table], from, rule)
    text.lines(table, Array<string>(count).fill(`-D ${from} ${rule}`))
  }
  for (const table of ['filter', 'nat', 'mangle'] as const) {
    const shared: readonly string[] = table === 'mangle' ? [] : sharedChains[table]
    for (const chain of tables[table].chains)
      if (chain === canaryChain || shared.includes(chain) || (table === 'nat' && isChainOfPort(chain)))
        text.deleteChain(table, chain)
  }
  return text.toString()
}
