/**
 * A component's port with connections of its own to the API server, by which it finds out who asks and what they may
 * do; they end with it.
 */
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { type ClusterAuthorities, clusterAuthorities } from './cluster-authorities.ts'
import { type DelegatedAccess, type DelegatedAccessOptions, delegatedAccess } from './delegated-access.ts'
import type { ComponentServer } from './index.ts'

export interface OwnAccessOptions extends Omit<DelegatedAccessOptions, 'authentication' | 'authorization'> {
  /** As whom TokenReviews are asked for. */
  readonly authentication?: ServerAccess
  /** As whom SubjectAccessReviews are asked for. */
  readonly authorization?: ServerAccess
  readonly userAgent: string
  /** Whether the authorities of client certificates are what the cluster says, where `clientCA` does not say it. */
  readonly followsCluster: boolean
}

/** Resolves with what `serve` starts; rejects as that does. */
export async function servedWithAccess(
  { authentication, authorization, userAgent, followsCluster, clientCA, ...more }: OwnAccessOptions,
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
  const access = delegatedAccess({
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
