/** Nodes as users: kubelets have the name `system:node:NAME` and the group system:nodes; both are required. */
import type { UserInfo } from '../../request-info/user-info.ts'

const prefix = 'system:node:'
const group = 'system:nodes'

/** Returns the node's name; undefined for other users. */
export function nodeOf(user: UserInfo | undefined): string | undefined {
  return user?.name.startsWith(prefix) && user.groups.includes(group) ? user.name.slice(prefix.length) : undefined
}
