/** Commands that bring the table to its basic state, whatever it had before. */
import {
  addChain,
  addElements,
  addSet,
  addTable,
  type Command,
  deleteChain,
  deleteSet,
  flushChain,
} from '../../../netlink/nftables/commands.ts'
import type { FoundSet } from '../../../netlink/nftables/table-socket.ts'
import type { ModeOptions } from '../mode-options.ts'
import { affinityPrefix } from './names.ts'
import { type LayoutChain, nodePortIPs, type TableSets } from './table-layout.ts'

/**
 * Removes all rules, and all sets except those that remember clients: a restart does not end their affinity.
 * `replaced` are chains to delete.
 */
export function resetCommands(
  found: readonly FoundSet[],
  affinitySets: ReadonlyMap<string, number>,
  replaced: readonly string[],
): Command[] {
  const isRetained = ({ name, timeoutSeconds }: FoundSet): boolean =>
    name.startsWith(affinityPrefix) && affinitySets.get(name) === timeoutSeconds
  return [
    addTable('rules for kube-proxy'),
    flushChain(undefined),
    ...found.filter((set) => !isRetained(set)).map(({ name }) => deleteSet(name)),
    ...replaced.map(deleteChain),
  ]
}

/** The sets and chains that the table always has. */
export const layoutCommands = (sets: TableSets, layout: readonly LayoutChain[]): Command[] => [
  ...Object.values(sets).map((set) => addSet(set)),
  ...layout.map(({ name, comment, base }) => addChain(name, comment, base)),
]

/** The set of addresses that accept node ports. Those of the loopback interface cannot: packets would not leave it. */
export function nodePortAddressCommands({ family, nodePortAddresses, instance, log }: ModeOptions): Command[] {
  const { isAll, addresses } = nodePortAddresses()
  if (isAll) return []
  const set = nodePortIPs(family)
  const served = addresses.filter((address) => !isLoopback(address))
  // A cluster's own proxy has no such flag: its node may have no other address.
  for (const address of instance === undefined ? addresses.filter(isLoopback) : [])
    log(`--nodeport-addresses includes ${address}, but the mode nftables serves no node ports on localhost`)
  return [
    addSet(set),
    ...(served.length > 0
      ? [
          addElements(
            set,
            served.map((key) => ({ key })),
          ),
        ]
      : []),
  ]
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'
