/** The ways to bring network policies into effect on this machine. */
import { existsSync } from 'node:fs'
import { systemCalls } from '../../lib/linux/system-calls.ts'
import { messageOf } from '../../lib/message-of.ts'
import { runRulesProgram } from '../../network/cni/host-ports/run-rules-program.ts'
import { installedVariants } from '../../network/iptables/iptables-programs.ts'
import { TableSocket } from '../../network/netlink/nftables/table-socket.ts'
import { PolicyChains } from '../../network/policy/iptables/policy-chains.ts'
import { PolicyTable } from '../../network/policy/nftables/policy-table.ts'
import type { PolicyBackend } from '../../network/policy/rules/policy-state.ts'
import { type PolicyMode, policyModes } from './policy-mode.ts'

export type PolicyBackends = Readonly<Partial<Record<4 | 6, PolicyBackend>>>

interface Mode {
  /** Rejects with the reason why this machine cannot use it. */
  check(): Promise<void>
  /** `instance` distinguishes the rules from those of other clusters; undefined: `t8s network-policy`. */
  create(family: 4 | 6, instance: string | undefined): PolicyBackend
}

const modes: Readonly<Record<PolicyMode, Mode>> = {
  nftables: {
    check: async () => void new TableSocket(systemCalls(), 4, 't8s_policy').hasRules('forward'),
    create: (family, instance) =>
      new PolicyTable(new TableSocket(systemCalls(), family, `t8s_policy${instance ? `_${instance}` : ''}`), family),
  },
  iptables: {
    async check() {
      const [programs] = await installedVariants(runRulesProgram, 4)
      if (!programs) throw new Error('iptables is not installed: apt-get install iptables')
      await programs.save()
    },
    create: (family, instance) => new PolicyChains({ family, instance, run: runRulesProgram }),
  },
}

/** Returns the wanted mode, or the best one that works here. Rejects with the reason of each one. */
export async function usablePolicyMode(wanted: PolicyMode | undefined): Promise<PolicyMode> {
  const reasons: string[] = []
  for (const mode of wanted ? [wanted] : policyModes)
    try {
      await modes[mode].check()
      return mode
    } catch (error) {
      reasons.push(`${mode}: ${messageOf(error)}`)
    }
  throw new Error(`this machine cannot bring network policies into effect (${reasons.join('; ')})`)
}

/** One for each family of the kernel. */
export const policyBackends = (mode: PolicyMode, instance: string | undefined): PolicyBackends => ({
  4: modes[mode].create(4, instance),
  ...(existsSync('/proc/net/if_inet6') && { 6: modes[mode].create(6, instance) }),
})

/** Removes the rules of other modes that an earlier process has left. */
export async function removeOtherPolicies(mode: PolicyMode | undefined, instance: string | undefined): Promise<void> {
  for (const other of policyModes) {
    const isUsable =
      other !== mode &&
      (await modes[other].check().then(
        () => true,
        () => false,
      ))
    if (isUsable) for (const backend of Object.values(policyBackends(other, instance))) await backend.remove()
  }
}
