/**
 * Modes of impersonation (KEP-5284). A constrained mode needs two permissions: to be that user (`impersonate:MODE`),
 * and to make the request as such a user (`impersonate-on:MODE:VERB`). The permission `impersonate` of the legacy mode
 * allows everything that the other user may do.
 */
import { aggregated } from '../../../lib/go/aggregate.ts'
import { domainPrefixedPathFaults } from '../../../machinery/validation/domain-prefixed-path.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { accountOf } from '../../authentication/service-accounts/account-name.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { ImpersonationModeName } from './impersonation-metrics.ts'

/** The user that the headers request. */
export interface ImpersonatedUser {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

export interface ImpersonationMode {
  readonly name: ImpersonationModeName
  /** True if the mode is for such a user. */
  readonly applies: (target: ImpersonatedUser, requestor: UserInfo) => boolean
  /** The user whose permissions are checked. Default: the requestor. */
  readonly checkAs?: (requestor: UserInfo) => UserInfo
  /** The name for the permission check, in place of the node's. */
  readonly node?: string
}

const nodePrefix = 'system:node:'
const nodeNameKey = 'authentication.kubernetes.io/node-name'

/** Returns the node's name if a user name is that of a node. */
export function nodeNameOf(user: string): string | undefined {
  const name = user.startsWith(nodePrefix) ? user.slice(nodePrefix.length) : ''
  return name !== '' && dnsSubdomain(name).length === 0 ? name : undefined
}

/** True if only a name is requested: the server determines the other attributes of nodes and service accounts. */
const hasOnlyName = ({ uid, groups, extra }: ImpersonatedUser): boolean =>
  uid === '' && groups.length === 0 && extra.size === 0

/** In the order in which upstream tries them. */
export const impersonationModes: readonly ImpersonationMode[] = [
  {
    name: 'associated-node',
    applies: (target, { name, extra }) => {
      const node = nodeNameOf(target.name)
      const nodeNames = extra?.[nodeNameKey]
      return (
        node !== undefined &&
        hasOnlyName(target) &&
        accountOf(name) !== undefined &&
        nodeNames?.length === 1 &&
        nodeNames[0] === node
      )
    },
    // One permission for the associated node, whatever its name: leave out what differs from node to node.
    checkAs: ({ extra = {}, ...user }) => ({
      ...user,
      extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(extra).sort() },
    }),
    node: '*',
  },
  { name: 'arbitrary-node', applies: (target) => nodeNameOf(target.name) !== undefined && hasOnlyName(target) },
  { name: 'serviceaccount', applies: (target) => accountOf(target.name) !== undefined && hasOnlyName(target) },
  {
    name: 'user-info',
    applies: (target) => nodeNameOf(target.name) === undefined && accountOf(target.name) === undefined,
  },
  { name: 'legacy', applies: () => true },
]

/** The reason why no constrained mode allows the groups, and the group at fault. */
export function groupFault(groups: readonly string[]): { readonly name: string; readonly why: string } | undefined {
  if (groups.includes('')) return { name: '', why: 'impersonating the empty string group is not allowed' }
  if (groups.includes(masters)) return { name: masters, why: 'impersonating the system:masters group is not allowed' }
}

const masters = 'system:masters'

/** The reason why no constrained mode allows the extra values. */
export function extraFault(extra: ImpersonatedUser['extra']): string | undefined {
  for (const [key, values] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    const faults = domainPrefixedPathFaults(key, 'extra.key').map(({ field, message }) => `${field}: ${message}`)
    if (faults.length > 0) return `impersonating an invalid key in extra is not allowed: ${aggregated(faults)}`
    if (key !== key.toLowerCase())
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`
    if (values.length === 0) return 'impersonating empty values in extra is not allowed'
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
}
