/** Chooses the form of rules that the machine has a program for. */
import { findRulesProgram } from './find-rules-program.ts'
import type { HostPortRules, PodRulesOptions } from './host-port-rules.ts'
import { IptablesRules } from './iptables/iptables-rules.ts'
import { NftRules } from './nftables/nft-rules.ts'

/** @throws if there is neither nft nor iptables. */
export function createRules(options: PodRulesOptions): HostPortRules {
  const { program, problem } = findRulesProgram()
  if (problem !== undefined) throw new Error(problem)
  return program === 'nft' ? new NftRules(options) : new IptablesRules(options)
}
