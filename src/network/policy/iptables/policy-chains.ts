/**
 * Network policies in iptables: chains of their own, to which the first rules of FORWARD and INPUT lead. A change is
 * one run of `iptables-restore --noflush` with the chains that have changed, and one of `ipset`, if it is installed.
 */
import {
  findIptables,
  type IptablesPrograms,
  type IptablesVariant,
  installedVariants,
  type RunProgram,
} from '../../iptables/iptables-programs.ts'
import { RestoreText } from '../../iptables/restore-text.ts'
import { countRule, parseSaved } from '../../iptables/saved-rules.ts'
import { directions } from '../picture/compiled-policy.ts'
import type { PolicyBackend, PolicyChain, PolicyState } from '../rules/policy-state.ts'
import { chainLines, dispatchLines, entryRule, fixedLines } from './chain-lines.ts'
import { IpSets } from './ip-sets.ts'
import { type KernelNames, kernelNames } from './kernel-names.ts'

export interface PolicyChainsOptions {
  readonly family: 4 | 6
  /** Distinguishes the rules from those of other clusters. */
  readonly instance?: string | undefined
  readonly run: RunProgram
  /** Default: the variant that other programs use. */
  readonly variant?: IptablesVariant
  /** False: rules have the addresses of pods. Default: true if the program `ipset` works. */
  readonly usesSets?: boolean
}

interface Written {
  readonly text: string
  /** The chain of the state that the text was made from. */
  readonly source: PolicyChain | undefined
}

interface Tools {
  readonly programs: IptablesPrograms
  readonly sets: IpSets | undefined
}

const jumpsOf = ({ entry }: KernelNames) =>
  [
    ['FORWARD', entry.forward],
    ['INPUT', entry.input],
  ] as const

export class PolicyChains implements PolicyBackend {
  readonly #options: PolicyChainsOptions
  readonly #names: KernelNames
  #tools: Tools | undefined
  /** Rules by chain; undefined until all is in effect. */
  #written: ReadonlyMap<string, Written> | undefined
  #isRemoved = false

  constructor(options: PolicyChainsOptions) {
    this.#options = options
    this.#names = kernelNames(options.family, options.instance)
  }

  async apply(wanted: PolicyState): Promise<void> {
    const { programs, sets } = await this.#findTools()
    const before = this.#written
    this.#written = undefined
    this.#isRemoved = false
    const written = this.#write(wanted, before, sets)
    const text = before ? new RestoreText() : entryText(await programs.save(), written, this.#names)
    for (const [chain, { text: rules }] of written)
      if (before?.get(chain)?.text !== rules) text.chain('filter', chain, rules === '' ? [] : rules.split('\n'))
    for (const chain of before?.keys() ?? []) if (!written.has(chain)) text.deleteChain('filter', chain)
    if (!before) sets?.forget()
    await sets?.fill(wanted.sets)
    if (text.toString() !== '') await programs.restore(text.toString())
    await sets?.destroyOthers(wanted.sets)
    this.#written = written
  }

  async remove(): Promise<void> {
    if (this.#isRemoved) return
    this.#written = undefined
    const { family, run } = this.#options
    for (const programs of await installedVariants(run, family)) {
      const text = removal(await programs.save(), this.#names)
      if (text !== '') await programs.restore(text)
    }
    const sets = this.#tools?.sets ?? new IpSets(run, family, this.#names)
    if (this.#tools?.sets || (await sets.isUsable())) await sets.destroyOthers(new Map())
    this.#isRemoved = true
  }

  #write(state: PolicyState, before: ReadonlyMap<string, Written> | undefined, sets: IpSets | undefined) {
    const { family } = this.#options
    const written = new Map<string, Written>()
    const add = (chain: string, lines: readonly string[], source?: PolicyChain): void =>
      void written.set(chain, { text: lines.join('\n'), source })
    for (const [chain, lines] of fixedLines(family, this.#names)) add(chain, lines)
    for (const direction of directions) add(this.#names.entry[direction], dispatchLines(state, direction, this.#names))
    const lookup = { family, sets: state.sets, kernelName: sets && this.#names.set, chainName: this.#names.chain }
    for (const [name, chain] of state.chains) {
      const known = before?.get(this.#names.chain(name))
      // Without sets in the kernel, rules have the addresses.
      if (known?.source === chain && sets) written.set(this.#names.chain(name), known)
      else add(this.#names.chain(name), chainLines(chain, lookup), chain)
    }
    return written
  }

  async #findTools(): Promise<Tools> {
    if (this.#tools) return this.#tools
    const { family, run, variant, usesSets } = this.#options
    const sets = new IpSets(run, family, this.#names)
    this.#tools = {
      programs: await findIptables(run, family, variant),
      sets: (usesSets ?? (await sets.isUsable())) ? sets : undefined,
    }
    return this.#tools
  }
}

/** Jumps to the chains of policies, without chains that an earlier process has left. */
function entryText(saved: string, written: ReadonlyMap<string, Written>, names: KernelNames): RestoreText {
  const { filter } = parseSaved(saved)
  const text = new RestoreText()
  for (const [from, to] of jumpsOf(names)) {
    const count = countRule(filter, from, entryRule(to))
    if (count === 0) text.lines('filter', [`-I ${from} 1 ${entryRule(to)}`])
    else text.lines('filter', Array<string>(count - 1).fill(`-D ${from} ${entryRule(to)}`))
  }
  for (const chain of filter.chains) if (names.isChain(chain) && !written.has(chain)) text.deleteChain('filter', chain)
  return text
}

function removal(saved: string, names: KernelNames): string {
  const { filter } = parseSaved(saved)
  const text = new RestoreText()
  for (const [from, to] of jumpsOf(names))
    text.lines('filter', Array<string>(countRule(filter, from, entryRule(to))).fill(`-D ${from} ${entryRule(to)}`))
  for (const chain of filter.chains) if (names.isChain(chain)) text.deleteChain('filter', chain)
  return text.toString()
}
