/**
 * How far one may act as another (KEP-5284). A mode allows what has two rights: to be that user (`impersonate:MODE`), and to do what the
 * request asks for as such a user (`impersonate-on:MODE:VERB`). The old right `impersonate` allows all that the other may do.
 */
import { domainPrefixedPathFaults } from '../../../machinery/validation/domain-prefixed-path.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { accountOf } from '../../authentication/service-accounts/account-name.ts'
import type { UserInfo } from '../../http/exchange.ts'

/** Who somebody wants to be, as the headers say it. */
export interface WantedUser {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

export interface ImpersonationMode {
  readonly name: 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'
  /** Whether it is about such a user at all. */
  readonly applies: (wanted: WantedUser, requestor: UserInfo) => boolean
  /** As whom rights are asked for. */
  readonly asking?: (requestor: UserInfo) => UserInfo
  /** The name that rights are asked for, in place of the node's. */
  readonly node?: string
}

const nodePrefix = 'system:node:'
const nodeNameKey = 'authentication.kubernetes.io/node-name'

/** The name of the node that a user name stands for. */
export function nodeCalled(user: string): string | undefined {
  const name = user.startsWith(nodePrefix) ? user.slice(nodePrefix.length) : ''
  return name !== '' && dnsSubdomain(name).length === 0 ? name : undefined
}

/** The server knows the rest of nodes and service accounts: it cannot be chosen. */
const isNameAlone = ({ uid, groups, extra }: WantedUser): boolean => uid === '' && groups.length === 0 && extra.size === 0

/** Which mode is asked first is upstream's. */
export const impersonationModes: readonly ImpersonationMode[] = [
  {
    name: 'associated-node',
    applies: (wanted, { name, extra }) => {
      const node = nodeCalled(wanted.name)
      const own = extra?.[nodeNameKey]
      return node !== undefined && isNameAlone(wanted) && accountOf(name) !== undefined && own?.length === 1 && own[0] === node
    },
    // A right for the own node, whichever that is: what differs from node to node is not asked about.
    asking: ({ extra = {}, ...user }) => ({ ...user, extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(extra).sort() } }),
    node: '*',
  },
  { name: 'arbitrary-node', applies: (wanted) => nodeCalled(wanted.name) !== undefined && isNameAlone(wanted) },
  { name: 'serviceaccount', applies: (wanted) => accountOf(wanted.name) !== undefined && isNameAlone(wanted) },
  { name: 'user-info', applies: (wanted) => nodeCalled(wanted.name) === undefined && accountOf(wanted.name) === undefined && isHarmless(wanted) },
]

/** What only the old right hands out. */
const isHarmless = ({ groups, extra }: WantedUser): boolean =>
  !groups.some((group) => group === '' || group === 'system:masters') &&
  [...extra].every(([key, values]) => isHarmlessKey(key) && values.length > 0 && !values.includes(''))

const isHarmlessKey = (key: string): boolean => key === key.toLowerCase() && domainPrefixedPathFaults(key, 'extra').length === 0
