/** The manager's port: its certificate, authentication and authorization, from the flags. */
import { managerAgent } from '../../controllers/index.ts'
import { machineHosts } from '../addresses/addresses.ts'
import { type ComponentAccessOptions, serveWithAccess } from '../component-server/component-access.ts'
import type { ComponentServer } from '../component-server/index.ts'
import { readAuthorities, readIdentity } from '../credentials/identity-files.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { selfSignedPair } from '../pki/self-signed.ts'
import { type FlagContext, pathOf } from '../serving-options/flag-context.ts'
import { accessOf } from './clients.ts'
import { type ManagerServerOptions, serveManager } from './manager-server.ts'

const usualPort = 10257

/**
 * Starts to listen; returns undefined if `--secure-port` is 0. Rejects with an ExplainedError for unusable files and a
 * port that is not available.
 */
export async function serveByFlags(
  context: FlagContext,
  parts: Pick<ManagerServerOptions, 'running' | 'checks' | 'metrics' | 'configuration'>,
): Promise<ComponentServer | undefined> {
  const { flags, log } = context
  const port = flags.int('secure-port') ?? usualPort
  if (port === 0) return undefined
  const bindAddress = flags.text('bind-address') || '0.0.0.0'
  const [tls, authentication, authorization] = await Promise.all([
    servingPair(context, bindAddress),
    accessOf(context, 'authentication-kubeconfig'),
    accessOf(context, 'authorization-kubeconfig'),
  ])
  const clientCAFile = pathOf(context, 'client-ca-file')
  const options: ComponentAccessOptions = {
    authentication,
    authorization,
    userAgent: managerAgent,
    usesClusterAuthorities: !flags.bool('authentication-skip-lookup'),
    clientCA: clientCAFile ? readAuthorities(clientCAFile, '--client-ca-file') : undefined,
    openPaths: flags.list('authorization-always-allow-paths'),
    cacheMs: {
      token: flags.durationMs('authentication-token-webhook-cache-ttl'),
      allowed: flags.durationMs('authorization-webhook-cache-authorized-ttl'),
      refused: flags.durationMs('authorization-webhook-cache-unauthorized-ttl'),
    },
    log,
  }
  return serveWithAccess(options, (access) =>
    serveManager({
      ...parts,
      bindAddress,
      port,
      portFlag: '--secure-port',
      tls,
      access,
      profiling: flags.bool('profiling'),
    }),
  )
}

/** The key pair of the flags, or a generated one, as upstream does. */
async function servingPair(context: FlagContext, bindAddress: string): Promise<KeyPair> {
  const { tls } = readIdentity({
    tlsCertFile: pathOf(context, 'tls-cert-file'),
    tlsPrivateKeyFile: pathOf(context, 'tls-private-key-file'),
  })
  return (
    tls ?? selfSignedPair(managerAgent, [...new Set(['localhost', '127.0.0.1', '::1', ...machineHosts(bindAddress)])])
  )
}
