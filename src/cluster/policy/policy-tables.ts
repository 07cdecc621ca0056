/** The tables of network policies on this machine, by the families of its kernel. */
import { existsSync } from 'node:fs'
import { systemCalls } from '../../lib/linux/system-calls.ts'
import { TableSocket } from '../../network/netlink/nftables/table-socket.ts'
import { PolicyTable } from '../../network/policy/nftables/policy-table.ts'

/** @throws if this machine has no system calls for nftables. */
export function policyTables(name: string): Partial<Record<4 | 6, PolicyTable>> {
  const table = (family: 4 | 6): PolicyTable => new PolicyTable(new TableSocket(systemCalls(), family, name), family)
  return { 4: table(4), ...(existsSync('/proc/net/if_inet6') && { 6: table(6) }) }
}
