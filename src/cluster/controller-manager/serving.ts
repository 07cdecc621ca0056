/** The manager's port, as its flags say: which certificate, and who may ask. */
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { managerAgent } from '../../controllers/index.ts'
import { machineHosts } from '../addresses.ts'
import { clusterAuthorities } from '../component-server/cluster-authorities.ts'
import { delegatedAccess } from '../component-server/delegated-access.ts'
import type { ComponentServer } from '../component-server/index.ts'
import { readAuthorities, readIdentity } from '../credentials/identity-files.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { selfSignedPair } from '../pki/self-signed.ts'
import { type FlagPlace, pathOf } from '../serving-options/flag-place.ts'
import { accessOf } from './clients.ts'
import { type ManagerServerOptions, openPaths, serveManager } from './manager-server.ts'

const usualPort = 10257

/** Starts to listen; undefined where `--secure-port` is 0. Rejects with an ExplainedError for files that will not do and a port that cannot be had. */
export async function serveByFlags(
  place: FlagPlace,
  parts: Pick<ManagerServerOptions, 'running' | 'checks' | 'metrics' | 'configuration'>,
): Promise<ComponentServer | undefined> {
  const { flags, log } = place
  const port = flags.int('secure-port') ?? usualPort
  if (port === 0) return undefined
  const bindAddress = flags.text('bind-address') || '0.0.0.0'
  const [tls, authentication, authorization] = await Promise.all([
    servingPair(place, bindAddress),
    connectionOf(await accessOf(place, 'authentication-kubeconfig')),
    connectionOf(await accessOf(place, 'authorization-kubeconfig')),
  ])
  const clientCAFile = pathOf(place, 'client-ca-file')
  const looksUp = authentication && !clientCAFile && !flags.bool('authentication-skip-lookup')
  const authorities = looksUp ? clusterAuthorities(authentication.client, log) : undefined
  const end = async (): Promise<void> => {
    await authorities?.stop()
    authentication?.close()
    authorization?.close()
  }
  const access = delegatedAccess({
    authentication: authentication?.client,
    authorization: authorization?.client,
    clientCA: clientCAFile ? readAuthorities(clientCAFile, '--client-ca-file') : authorities?.clientCA,
    openPaths: flags.list('authorization-always-allow-paths') ?? openPaths,
    holdMs: {
      token: flags.durationMs('authentication-token-webhook-cache-ttl'),
      allowed: flags.durationMs('authorization-webhook-cache-authorized-ttl'),
      refused: flags.durationMs('authorization-webhook-cache-unauthorized-ttl'),
    },
    log,
  })
  try {
    const server = await serveManager({ ...parts, bindAddress, port, portFlag: '--secure-port', tls, access })
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

const connectionOf = async (access: ServerAccess | undefined) => {
  if (!access) return undefined
  const connection = new Connection({ ...access, userAgent: managerAgent })
  return { client: new RestClient(connection), close: () => connection.close() }
}

/** That of the flags, or one that is made, as upstream does it. */
async function servingPair(place: FlagPlace, bindAddress: string): Promise<KeyPair> {
  const { tls } = readIdentity({ tlsCertFile: pathOf(place, 'tls-cert-file'), tlsPrivateKeyFile: pathOf(place, 'tls-private-key-file') })
  return tls ?? selfSignedPair(managerAgent, [...new Set(['localhost', '127.0.0.1', '::1', ...machineHosts(bindAddress)])])
}
