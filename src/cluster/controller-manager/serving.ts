/** The manager's port, as its flags say: which certificate, and who may ask. */
import { managerAgent } from '../../controllers/index.ts'
import { machineHosts } from '../addresses.ts'
import type { ComponentServer } from '../component-server/index.ts'
import { type OwnAccessOptions, servedWithAccess } from '../component-server/own-access.ts'
import { readAuthorities, readIdentity } from '../credentials/identity-files.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { selfSignedPair } from '../pki/self-signed.ts'
import { type FlagPlace, pathOf } from '../serving-options/flag-place.ts'
import { accessOf } from './clients.ts'
import { type ManagerServerOptions, serveManager } from './manager-server.ts'

const usualPort = 10257

/**
 * Starts to listen; undefined where `--secure-port` is 0. Rejects with an ExplainedError for files that will not do and
 * a port that cannot be had.
 */
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
    accessOf(place, 'authentication-kubeconfig'),
    accessOf(place, 'authorization-kubeconfig'),
  ])
  const clientCAFile = pathOf(place, 'client-ca-file')
  const options: OwnAccessOptions = {
    authentication,
    authorization,
    userAgent: managerAgent,
    followsCluster: !flags.bool('authentication-skip-lookup'),
    clientCA: clientCAFile ? readAuthorities(clientCAFile, '--client-ca-file') : undefined,
    openPaths: flags.list('authorization-always-allow-paths'),
    holdMs: {
      token: flags.durationMs('authentication-token-webhook-cache-ttl'),
      allowed: flags.durationMs('authorization-webhook-cache-authorized-ttl'),
      refused: flags.durationMs('authorization-webhook-cache-unauthorized-ttl'),
    },
    log,
  }
  return servedWithAccess(options, (access) =>
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

/** That of the flags, or one that is made, as upstream does it. */
async function servingPair(place: FlagPlace, bindAddress: string): Promise<KeyPair> {
  const { tls } = readIdentity({
    tlsCertFile: pathOf(place, 'tls-cert-file'),
    tlsPrivateKeyFile: pathOf(place, 'tls-private-key-file'),
  })
  return (
    tls ?? selfSignedPair(managerAgent, [...new Set(['localhost', '127.0.0.1', '::1', ...machineHosts(bindAddress)])])
  )
}
