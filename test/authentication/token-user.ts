/** Whom a cluster takes the bearer of a token for. */
import type { Reach } from '../support/reachable-cluster.ts'
import { ask, bearer, type Told } from './whoami.ts'

export interface TokenUser {
  readonly status: number | undefined
  readonly user?: Told['user']
}

export async function tokenUser(cluster: Reach, token: string): Promise<TokenUser> {
  const { code, user } = await ask(cluster, bearer(token))
  return { status: code, ...(user && { user }) }
}
