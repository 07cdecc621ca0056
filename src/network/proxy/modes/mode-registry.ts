/** The modes of kube-proxy by name. Their code is loaded on use. */
import { messageOf } from '../../../lib/message-of.ts'
import type { RunProgram } from '../../iptables/iptables-programs.ts'
import type { ModeOptions } from './mode-options.ts'
import type { ProxyMode } from './proxy-mode.ts'

export type ModeName = 'nftables' | 'iptables' | 'ipvs' | 'userspace'

interface RegisteredMode {
  /** True if the kernel translates addresses, and remembers that for UDP flows. */
  readonly usesKernel: boolean
  /** True if several clusters in one network namespace can use it. */
  readonly isShareable: boolean
  /** Modes whose rules the first sync of this mode removes, so that no packet meets neither. */
  readonly replaces: readonly ModeName[]
  create(options: ModeOptions): Promise<ProxyMode>
  /** Rejects with an Error that says why this machine cannot use it, and what to do. */
  check(run: RunProgram): Promise<void>
  /** True if this machine may have rules of the mode, of an earlier process. Changes nothing. */
  mayHaveRules(run: RunProgram): Promise<boolean>
}

const succeeds = (checked: Promise<unknown>): Promise<boolean> =>
  checked.then(
    () => true,
    () => false,
  )

const checkNftables = async (): Promise<void> => (await import('./nftables/check-nftables.ts')).checkNftables()
const checkIptables = async (run: RunProgram): Promise<void> =>
  void (await run('iptables', ['-w', '5', '-t', 'nat', '-S', 'OUTPUT']))
const checkUserspace = async (): Promise<void> => (await import('../../forwarder/check-forwarder.ts')).checkForwarder()

const registered: Readonly<Record<ModeName, RegisteredMode>> = {
  nftables: {
    usesKernel: true,
    isShareable: true,
    replaces: [],
    create: async (options) => (await import('./nftables/nftables-mode.ts')).createNftablesMode(options),
    check: checkNftables,
    mayHaveRules: () => succeeds(checkNftables()),
  },
  iptables: {
    usesKernel: true,
    isShareable: false,
    replaces: [],
    create: async (options) => (await import('./iptables/iptables-mode.ts')).createIptablesMode(options),
    check: checkIptables,
    mayHaveRules: (run) => succeeds(checkIptables(run)),
  },
  ipvs: {
    usesKernel: true,
    isShareable: false,
    replaces: ['iptables'],
    create: async (options) => (await import('./ipvs/ipvs-mode.ts')).createIpvsMode(options),
    check: async (run) => (await import('./ipvs/check-ipvs.ts')).checkIpvs(run),
    mayHaveRules: async () => (await import('./ipvs/check-ipvs.ts')).mayHaveIpvsRules(),
  },
  userspace: {
    usesKernel: false,
    isShareable: false,
    replaces: [],
    create: async (options) => (await import('./userspace/userspace-mode.ts')).createUserspaceMode(options),
    check: checkUserspace,
    mayHaveRules: () => succeeds(checkUserspace()),
  },
}

export const modeNames: readonly ModeName[] = ['nftables', 'iptables', 'ipvs', 'userspace']

/** Modes that may be chosen without a flag, the best one first. As upstream, ipvs is not one of them. */
const automaticModes: readonly ModeName[] = ['nftables', 'iptables', 'userspace']

export const isModeName = (name: string): name is ModeName => Object.hasOwn(registered, name)

export const modeOf = (name: ModeName): RegisteredMode => registered[name]

/** Returns the best mode that works on this machine. Rejects with an Error that has the reason of each one. */
export async function bestMode(run: RunProgram, names: readonly ModeName[] = automaticModes): Promise<ModeName> {
  const reasons: string[] = []
  for (const name of names)
    try {
      await modeOf(name).check(run)
      return name
    } catch (error) {
      reasons.push(`${name}: ${messageOf(error)}`)
    }
  throw new Error(`no mode of kube-proxy works on this machine (${reasons.join('; ')})`)
}
