/** The rules in iptables, with upstream's chains: FLANNEL-POSTRTG in the table nat, FLANNEL-FWD in the table filter. */
import { findIptables, type IptablesPrograms, type RunProgram, type Table } from '../../iptables/iptables-programs.ts'
import { RestoreText } from '../../iptables/restore-text.ts'
import { multicast, proxyMark, type TrafficRules, type TrafficRulesOptions } from './traffic-rules.ts'

/** A chain of flannel, and the rule of the kernel's own chain that calls it. */
interface OwnChain {
  readonly table: Table
  readonly name: string
  readonly parent: string
  readonly jump: string
}

const masqueradeChain = ownChain('nat', 'FLANNEL-POSTRTG', 'POSTROUTING', 'flanneld masq')
const forwardChain = ownChain('filter', 'FLANNEL-FWD', 'FORWARD', 'flanneld forward')
const chains: readonly OwnChain[] = [masqueradeChain, forwardChain]

export class IptablesTraffic implements TrafficRules {
  readonly #run: RunProgram
  readonly #options: TrafficRulesOptions
  #programs: Promise<IptablesPrograms> | undefined

  constructor(run: RunProgram, options: TrafficRulesOptions) {
    this.#run = run
    this.#options = options
  }

  async ensure(): Promise<boolean> {
    const programs = await this.#found()
    const wanted = wantedRules(this.#options, programs.hasRandomFully)
    const text = restoreText(await programs.save(), wanted)
    if (text === '') return false
    await programs.restore(text)
    return true
  }

  async remove(): Promise<void> {
    const programs = await this.#found()
    const text = restoreText(await programs.save(), new Map())
    if (text !== '') await programs.restore(text)
  }

  #found(): Promise<IptablesPrograms> {
    this.#programs ??= findIptables(this.#run, this.#options.family)
    this.#programs.catch(() => {
      this.#programs = undefined
    })
    return this.#programs
  }
}

type WantedRules = ReadonlyMap<OwnChain, readonly string[]>

/** The rules of each chain that is used, without `-A CHAIN`. */
function wantedRules(options: TrafficRulesOptions, hasRandomFully: boolean): WantedRules {
  const { family, network, subnet, masquerade, forward, randomFully } = options
  const masq = comment('flanneld masq')
  const target = `-j MASQUERADE${hasRandomFully && randomFully ? ' --random-fully' : ''}`
  return new Map([
    ...(masquerade
      ? [
          [
            masqueradeChain,
            [
              // Packets that kube-proxy masquerades: some kernels break those that are translated twice.
              `-m mark --mark ${proxyMark}/${proxyMark} ${masq} -j RETURN`,
              `-s ${subnet} -d ${network} ${masq} -j RETURN`,
              `-s ${network} -d ${subnet} ${masq} -j RETURN`,
              // Packets from outside that another node routed to the pods of this one.
              `! -s ${network} -d ${subnet} ${masq} -j RETURN`,
              `-s ${network} ! -d ${multicast[family]} ${masq} ${target}`,
              `! -s ${network} -d ${network} ${masq} ${target}`,
            ],
          ] as const,
        ]
      : []),
    ...(forward
      ? [
          [
            forwardChain,
            [
              `-s ${network} ${comment('flanneld forward')} -j ACCEPT`,
              `-d ${network} ${comment('flanneld forward')} -j ACCEPT`,
            ],
          ] as const,
        ]
      : []),
  ])
}

/** The input of iptables-restore that makes the saved rules the wanted ones; empty if they are. */
export function restoreText(saved: string, wanted: WantedRules): string {
  const text = new RestoreText()
  for (const chain of chains) {
    const { table, name, parent, jump } = chain
    const present = linesOf(saved, table)
    const own = present.filter((line) => line.startsWith(`-A ${name} `))
    const jumps = present.filter((line) => isSame(line, `-A ${parent} ${jump}`))
    const rules = wanted.get(chain)
    const removed = jumps.map((line) => line.replace(/^-A/, '-D'))
    if (!rules) {
      if (!present.some((line) => line.startsWith(`:${name} `))) continue
      text.lines(table, removed)
      text.deleteChain(table, name)
      continue
    }
    const isRight = own.length === rules.length && own.every((line, i) => isSame(line, `-A ${name} ${rules[i]}`))
    if (!isRight) text.chain(table, name, rules)
    if (jumps.length !== 1) text.lines(table, [...removed, `-A ${parent} ${jump}`])
  }
  return text.toString()
}

function linesOf(saved: string, table: Table): string[] {
  const [, ...rest] = `\n${saved}`.split(`\n*${table}\n`)
  return rest.flatMap((part) => part.split(/^COMMIT/m)[0]!.split('\n')).filter((line) => /^[:-]/.test(line))
}

/** Versions of iptables print the parts of a rule in different orders, and omit quotes. */
const isSame = (one: string, other: string): boolean => words(one) === words(other)
const words = (rule: string): string => rule.replaceAll('"', '').split(' ').sort().join(' ')

function comment(text: string): string {
  return `-m comment --comment "${text}"`
}

function ownChain(table: Table, name: string, parent: string, text: string): OwnChain {
  return { table, name, parent, jump: `${comment(text)} -j ${name}` }
}
