/** The modes of kube-proxy by name. Their code is loaded on use. */
import { messageOf } from '../../../lib/message-of.ts'
import type { RunProgram } from '../../iptables/iptables-programs.ts'
import type { ModeOptions } from './mode-options.ts'
import type { ProxyMode } from './proxy-mode.ts'

export type ModeName = 'nftables' | 'iptables' | 'userspace'

interface RegisteredMode {
  /** True if the kernel translates addresses, and remembers that for UDP flows. */
  readonly usesKernel: boolean
  /** True if several clusters in one network namespace can use it. */
  readonly isShareable: boolean
  create(options: ModeOptions): Promise<ProxyMode>
  /** Rejects with an Error that says why this machine cannot use it, and what to do. */
  check(run: RunProgram): Promise<void>
}

const registered: Readonly<Record<ModeName, RegisteredMode>> = {
  nftables: {
    usesKernel: true,
    isShareable: true,
    create: async (options) => (await import('./nftables/nftables-mode.ts')).createNftablesMode(options),
    check: async () => (await import('./nftables/check-nftables.ts')).checkNftables(),
  },
  iptables: {
    usesKernel: true,
    isShareable: false,
    create: async (options) => (await import('./iptables/iptables-mode.ts')).createIptablesMode(options),
    check: async (run) => void (await run('iptables', ['-w', '5', '-t', 'nat', '-S', 'OUTPUT'])),
  },
  userspace: {
    usesKernel: false,
    isShareable: false,
    create: async (options) => (await import('./userspace/userspace-mode.ts')).createUserspaceMode(options),
    check: async () => (await import('../../forwarder/check-forwarder.ts')).checkForwarder(),
  },
}

/** The best one first. */
export const modeNames: readonly ModeName[] = ['nftables', 'iptables', 'userspace']

export const isModeName = (name: string): name is ModeName => Object.hasOwn(registered, name)

export const modeOf = (name: ModeName): RegisteredMode => registered[name]

/** Returns the best mode that works on this machine. Rejects with an Error that has the reason of each one. */
export async function bestMode(run: RunProgram, names: readonly ModeName[] = modeNames): Promise<ModeName> {
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
