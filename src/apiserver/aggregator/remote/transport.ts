/**
 * Connections to the server of an aggregated API: TLS with the front proxy's client certificate; the APIService defines
 * how the server's certificate is verified.
 */
import { Agent } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import type { ServiceReference } from '../../outgoing/index.ts'
import { type APIService, serviceOf } from '../api-service.ts'

/** The client certificate of the front proxy. */
export interface ProxyClient {
  readonly cert: string
  readonly key: string
}

export interface Transport {
  readonly tls: ConnectionOptions
  readonly agent: Agent
}

/** Idle connections are closed after this, so that none is used after the other side has closed it. */
const idleMs = 30_000

export function transportFor(service: APIService, client: ProxyClient | undefined): Transport {
  const { caBundle, insecureSkipTLSVerify } = service.spec ?? {}
  const { namespace, name } = serviceOf(service) as ServiceReference
  const tls: ConnectionOptions = {
    servername: `${name}.${namespace}.svc`,
    rejectUnauthorized: !insecureSkipTLSVerify,
    ...(caBundle && { ca: Buffer.from(caBundle, 'base64') }),
    ...client,
  }
  return { tls, agent: new Agent({ keepAlive: true, timeout: idleMs, maxFreeSockets: 16 }) }
}
