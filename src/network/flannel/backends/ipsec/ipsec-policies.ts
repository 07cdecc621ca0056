/** Keeps policies of the kernel equal to those for the other nodes, without touching policies of others. */
import { isDeepStrictEqual } from 'node:util'
import type { SystemCalls } from '../../../../lib/linux/system-calls.ts'
import { NetlinkSocket, protocols } from '../../../netlink/netlink-socket.ts'
import { policyText, type TunnelPolicy, type XfrmPolicies } from '../../../netlink/xfrm/policies.ts'
import { Attempts } from '../attempts.ts'

/**
 * Adds and replaces policies that are missing or different, and removes those that `isOwned` accepts and nobody wants.
 * Returns what was done, in words.
 * @throws an Error with the reason of each policy that failed; the others are in effect.
 */
export function syncPolicies(
  policies: Pick<XfrmPolicies, 'list' | 'set' | 'remove'>,
  wanted: readonly TunnelPolicy[],
  isOwned: (policy: TunnelPolicy) => boolean,
): string[] {
  const attempts = new Attempts()
  const present = new Map(policies.list().map((policy) => [policyText(policy), policy]))
  const wantedTexts = new Set(wanted.map(policyText))
  for (const policy of wanted) {
    const text = policyText(policy)
    if (isDeepStrictEqual(present.get(text), policy)) continue
    const way = `${policy.tunnelSource} > ${policy.tunnelDestination}`
    attempts.make(`policy ${text} by ${way}`, () => policies.set(policy))
  }
  for (const [text, policy] of present)
    if (isOwned(policy) && !wantedTexts.has(text)) attempts.make(`no policy ${text}`, () => policies.remove(policy))
  return attempts.finish()
}

/** Calls a function with a socket for policies, in the network namespace of the thread. */
export function withXfrm<Result>(calls: SystemCalls, use: (socket: NetlinkSocket) => Result): Result {
  const socket = NetlinkSocket.open(calls, undefined, protocols.xfrm)
  try {
    return use(socket)
  } finally {
    socket.close()
  }
}
