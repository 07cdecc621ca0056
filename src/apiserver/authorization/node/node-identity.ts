/**
 * Which node a user is: kubelets are called `system:node:NAME` and are in the group system:nodes; neither alone makes a
 * node.
 */
import type { UserInfo } from '../../request-info/user-info.ts'

const prefix = 'system:node:'
const group = 'system:nodes'

/** The node's name; undefined for users who are none. */
export function nodeOf(user: UserInfo | undefined): string | undefined {
  return user?.name.startsWith(prefix) && user.groups.includes(group) ? user.name.slice(prefix.length) : undefined
}
