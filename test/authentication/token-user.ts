/** The user of a token on a cluster. */
import type { Reach } from '../support/reachable-cluster.ts'
import { type AuthenticatedAs, ask, bearer } from './whoami.ts'

export interface TokenUser {
  readonly status: number | undefined
  readonly user?: AuthenticatedAs['user']
}

export async function tokenUser(cluster: Reach, token: string): Promise<TokenUser> {
  const { code, user } = await ask(cluster, bearer(token))
  return { status: code, ...(user && { user }) }
}
