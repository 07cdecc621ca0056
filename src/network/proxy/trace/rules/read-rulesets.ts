/** Reads the rules of this machine: both variants of iptables, and the tables of nftables. */
import { ExplainedError } from '../../../../lib/explained-error.ts'
import type { RunProgram } from '../../../iptables/iptables-programs.ts'
import { recordOf, stringOf } from './nft-json.ts'
import { parseIptablesSave } from './parse-iptables-save.ts'
import { isOfIptables, parseNft } from './parse-nft.ts'
import type { Ruleset } from './ruleset.ts'

/**
 * Tables of programs that are not installed are left out.
 * @throws an ExplainedError without the right to read rules, and if no program is installed
 */
export async function readRulesets(run: RunProgram, family: 4 | 6): Promise<Ruleset[]> {
  const prefix = family === 4 ? 'iptables' : 'ip6tables'
  const saved = await Promise.all([
    savedRules(run, `${prefix}-nft-save`, `${prefix} (nft)`),
    savedRules(run, `${prefix}-legacy-save`, `${prefix} (legacy)`),
  ])
  const ofIptables = saved.some((tables) => tables !== undefined)
    ? saved
    : [await savedRules(run, `${prefix}-save`, prefix)]
  const all = [...ofIptables, await nftTables(run, family)]
  if (all.every((tables) => tables === undefined))
    throw new ExplainedError(
      'neither iptables nor nft is installed, which read the rules of this machine: apt-get install nftables iptables',
    )
  return all.flatMap((tables) => tables ?? [])
}

async function savedRules(run: RunProgram, program: string, name: string): Promise<Ruleset[] | undefined> {
  const text = await outputOf(run, program, ['-c'])
  return text === undefined ? undefined : parseIptablesSave(text, name)
}

async function nftTables(run: RunProgram, family: 4 | 6): Promise<Ruleset[] | undefined> {
  const list = await outputOf(run, 'nft', ['-j', 'list', 'tables'])
  if (list === undefined) return undefined
  const names = Object.values(recordOf(JSON.parse(list))?.nftables ?? []).flatMap((item) => {
    const table = recordOf(recordOf(item)?.table)
    return table ? [[stringOf(table.family), stringOf(table.name)] as const] : []
  })
  const wanted = names.filter(
    ([inFamily, name]) =>
      (inFamily === 'inet' || inFamily === (family === 4 ? 'ip' : 'ip6')) && !isOfIptables(inFamily, name),
  )
  const rulesets: Ruleset[] = []
  for (const [inFamily, name] of wanted) {
    const text = await outputOf(run, 'nft', ['-j', 'list', 'table', inFamily, name])
    if (text !== undefined) rulesets.push(...parseNft(text, family))
  }
  return rulesets
}

/** Undefined if the program is not installed. */
async function outputOf(run: RunProgram, program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return await run(program, args)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if ('code' in error && error.code === 'ENOENT') return undefined
    const isForbidden = /permission|permitted|root/i.test(error.message)
    throw new ExplainedError(
      `cannot read the rules of this machine: ${error.message}${isForbidden ? ': run it as root' : ''}`,
      { cause: error },
    )
  }
}
