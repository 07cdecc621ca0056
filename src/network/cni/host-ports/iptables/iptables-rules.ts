/** The rules of a pod network in iptables and ip6tables, for machines without nft. */
import type { HostPortRules, PodPorts, PodRulesOptions } from '../host-port-rules.ts'
import { runRulesProgram } from '../run-rules-program.ts'
import { type ChainNames, chainLines, chainNames, type IpVersion, jumps, portRules, rangesOf } from './pod-chains.ts'

const versions = [4, 6] as const
const programs = { 4: 'iptables', 6: 'ip6tables' } as const

/** They wait for the lock of other programs. */
const waiting = '-w'

export class IptablesRules implements HostPortRules {
  readonly #options: PodRulesOptions
  readonly #names: ChainNames
  #isReady = false

  constructor(options: PodRulesOptions) {
    this.#options = options
    this.#names = chainNames(options.table)
  }

  async setUp(): Promise<void> {
    if (this.#isReady) return
    for (const version of this.#versions) {
      await iptables(version, '-t', 'nat', '-N', this.#names.ports).catch(ignoreExisting)
      await restore(version, chainLines(this.#options, this.#names, version))
      for (const { table, rule } of jumps(this.#names, version))
        await iptables(version, '-t', table, '-C', ...rule).catch(() => iptables(version, '-t', table, '-A', ...rule))
    }
    this.#isReady = true
  }

  async open(pod: PodPorts): Promise<void> {
    await this.setUp()
    for (const version of this.#versions) await restoreNat(version, portRules('-A', this.#names, pod, version))
  }

  async close(pod: PodPorts): Promise<void> {
    for (const version of this.#versions) {
      const rules = portRules('-D', this.#names, pod, version)
      const isClosed = await restoreNat(version, rules).then(() => true, ignoreMissing)
      if (isClosed) continue
      for (const rule of rules) await restoreNat(version, [rule]).catch(ignoreMissing)
    }
  }

  async remove(): Promise<void> {
    this.#isReady = false
    for (const version of this.#versions) {
      for (const { table, rule } of jumps(this.#names, version))
        await iptables(version, '-t', table, '-D', ...rule).catch(ignoreMissing)
      const { guard, ...chains } = this.#names
      // The chain of ports uses that of the mark, so it is removed first.
      for (const chain of Object.values(chains)) await removeChain(version, 'nat', chain)
      if (version === 4) await removeChain(version, 'raw', guard)
    }
  }

  /** The versions of the pods' addresses. */
  get #versions(): readonly IpVersion[] {
    return versions.filter((version) => rangesOf(this.#options.ranges, version).length > 0)
  }
}

async function removeChain(version: IpVersion, table: string, chain: string): Promise<void> {
  for (const action of ['-F', '-X']) await iptables(version, '-t', table, action, chain).catch(ignoreMissing)
}

const iptables = (version: IpVersion, ...args: readonly string[]): Promise<string> =>
  runRulesProgram(programs[version], [waiting, ...args])

/** All rules take effect, or none. */
const restore = (version: IpVersion, input: string): Promise<string> =>
  runRulesProgram(`${programs[version]}-restore`, [waiting, '--noflush'], input)

async function restoreNat(version: IpVersion, rules: readonly string[]): Promise<void> {
  if (rules.length > 0) await restore(version, `*nat\n${rules.join('\n')}\nCOMMIT\n`)
}

function ignoreExisting(error: Error): void {
  if (!/exists/.test(error.message)) throw error
}

/** Returns false for an error which says that a rule or chain does not exist. */
function ignoreMissing(error: Error): false {
  if (
    !/does a matching rule exist|No chain\/target\/match|does not exist|Couldn't load target|line \d+ failed/.test(
      error.message,
    )
  )
    throw error
  return false
}
