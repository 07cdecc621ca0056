/** The inputs of `iptables-restore` of the mode ipvs. */

import { RestoreText } from '../../../../iptables/restore-text.ts'
import { countRule, parseSaved, type SavedTables } from '../../../../iptables/saved-rules.ts'
import { addRemoval } from '../../iptables/clean-up.ts'
import { type ChainRules, ipvsChains, ipvsJumps } from './chain-rules.ts'

/** Writes the chains; nothing else changes. */
export function chainsText(chains: readonly ChainRules[]): string {
  const text = new RestoreText()
  addChains(text, chains)
  return text.toString()
}

/**
 * Writes the chains and the jumps to them that are missing, and removes what only the mode iptables has. `saved` is
 * the output of `iptables-save`.
 */
export function fullText(chains: readonly ChainRules[], saved: string): string {
  const text = new RestoreText()
  const tables = parseSaved(saved)
  const ownChains = { filter: new Set<string>(ipvsChains.filter), nat: new Set<string>(ipvsChains.nat) }
  addRemoval(text, tables, { jumps: ipvsJumps, chains: ownChains })
  addChains(text, chains)
  for (const { table, from, rule } of ipvsJumps)
    if (countRule(tables[table], from, rule) === 0) text.lines(table, [`-I ${from} ${rule}`])
  return text.toString()
}

/** Removes all chains of the mode and the jumps to them. Empty if there are none. */
export function removalText(saved: string): string {
  const text = new RestoreText()
  const tables = parseSaved(saved)
  for (const { table, from, rule } of ipvsJumps) removeRule(text, tables, table, from, rule)
  for (const table of ['filter', 'nat'] as const)
    for (const chain of ipvsChains[table]) if (tables[table].chains.has(chain)) text.deleteChain(table, chain)
  return text.toString()
}

function addChains(text: RestoreText, chains: readonly ChainRules[]): void {
  for (const { table, chain, rules } of chains) text.chain(table, chain, rules)
}

function removeRule(text: RestoreText, tables: SavedTables, table: 'filter' | 'nat', from: string, rule: string): void {
  text.lines(table, Array<string>(countRule(tables[table], from, rule)).fill(`-D ${from} ${rule}`))
}
