/**
 * A component's port with its own connections to the API server for authentication and authorization. They are closed
 * with it.
 */
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { type ClusterAuthorities, clusterAuthorities } from './cluster-authorities.ts'
import { DelegatedAccess, type DelegatedAccessOptions } from './delegated-access.ts'
import type { ComponentServer } from './index.ts'

export interface ComponentAccessOptions extends Omit<DelegatedAccessOptions, 'authentication' | 'authorization'> {
  /** Credentials for TokenReviews. */
  readonly authentication?: ServerAccess
  /** Credentials for SubjectAccessReviews. */
  readonly authorization?: ServerAccess
  readonly userAgent: string
  /** True to use the cluster's client CA if `clientCA` is not set. */
  readonly usesClusterAuthorities: boolean
}

/** Resolves with the server that `serve` starts; rejects if `serve` rejects. */
export async function serveWithAccess(
  {
    authentication,
    authorization,
    userAgent,
    usesClusterAuthorities: followsCluster,
    clientCA,
    ...more
  }: ComponentAccessOptions,
  serve: (access: DelegatedAccess) => Promise<ComponentServer>,
): Promise<ComponentServer> {
  const connections: Connection[] = []
  const clientOf = (access: ServerAccess | undefined): RestClient | undefined => {
    if (!access) return undefined
    const connection = new Connection({ ...access, userAgent })
    connections.push(connection)
    return new RestClient(connection)
  }
  const reviewer = clientOf(authentication)
  const authorities: ClusterAuthorities | undefined =
    reviewer && followsCluster && !clientCA ? clusterAuthorities(reviewer, more.log) : undefined
  const access = new DelegatedAccess({
    ...more,
    authentication: reviewer,
    authorization: clientOf(authorization),
    clientCA: clientCA ?? authorities?.clientCA,
  })
  const end = async (): Promise<void> => {
    await authorities?.stop()
    for (const connection of connections) connection.close()
  }
  try {
    const server = await serve(access)
    return {
      port: server.port,
      async stop(graceMs) {
        await server.stop(graceMs)
        await end()
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}
