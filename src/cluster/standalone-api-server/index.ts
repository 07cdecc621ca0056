/**
 * An API server without a cluster, with the flags of kube-apiserver: no authority and no administrator of its own, only
 * what the flags define.
 */
import { join } from 'node:path'
import { signedToken } from '../../apiserver/authentication/service-accounts/signing-keys.ts'
import type { OtherStore } from '../../apiserver/server.ts'
import { defaultServiceRange } from '../../apiserver/services/ranges/address-range.ts'
import type { Store } from '../../storage/store.ts'
import { localUrl, serverHosts } from '../addresses/addresses.ts'
import { readIdentity } from '../credentials/identity-files.ts'
import { defaultIssuer } from '../credentials/service-account-keys.ts'
import { serviceAccountKey } from '../pki/pki.ts'
import { certDirPair } from '../pki/self-signed.ts'
import { type ServeOptions, serveStore } from '../serve-store.ts'
import { checkServingFlags, type FlagPlace, pathOf, servingOptions } from '../serving-options/index.ts'
import { defaultPort } from '../serving-options/listener/serving.ts'

export interface StandaloneApiServerOptions extends FlagPlace {
  /** The caller closes it after the server has stopped. */
  readonly store: Store
  /** Stores of some resources. The caller closes them, too. */
  readonly otherStores?: readonly OtherStore[]
  readonly warmUp?: boolean
}

export interface StandaloneApiServer {
  readonly url: string
  readonly port: number
  /** Keeps serving for `--shutdown-delay-duration`, then stops; running requests get `graceMs`. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

/** As `t8s up -v`. */
const timingVerbosity = 2
const defaultGraceMs = 10_000

/** Starts the server. Rejects with an ExplainedError for conflicting flags, unreadable files and a port in use. */
export async function startStandaloneApiServer(options: StandaloneApiServerOptions): Promise<StandaloneApiServer> {
  const { flags, directory, store, otherStores, warmUp, log } = options
  const started = performance.now()
  checkServingFlags(flags)
  const bindAddress = flags.text('bind-address') || '0.0.0.0'
  const serviceClusterIpRange = flags.text('service-cluster-ip-range') || defaultServiceRange
  const advertiseAddress = flags.text('advertise-address') || undefined
  const { tls } = readIdentity(
    { tlsCertFile: pathOf(options, 'tls-cert-file'), tlsPrivateKeyFile: pathOf(options, 'tls-private-key-file') },
    log,
  )
  const certDir = pathOf(options, 'cert-dir') ?? (directory && join(directory, 'pki')) ?? '/var/run/kubernetes'
  const hosts = [
    ...new Set([...(advertiseAddress ? [advertiseAddress] : []), ...serverHosts(bindAddress, serviceClusterIpRange)]),
  ]
  const flagged = servingOptions(options)
  const chosen = flags.list('controllers') ?? []
  // Loaded only if needed.
  const controllers =
    chosen.length > 0 ? (await import('./controllers.ts')).standaloneControllers(chosen, flagged.features) : undefined
  const pair = tls ?? (await certDirPair(certDir, hosts))
  const serviceAccount = {
    issuers: [defaultIssuer],
    signingKey: serviceAccountKey(directory && join(directory, 'pki')),
    ...flagged.serviceAccount,
  }
  const server = await serveStore({
    ...flagged,
    ...(controllers && { tokens: [...(flagged.tokens ?? []), ...controllers.tokens] }),
    // Upstream's default. A complete cluster sets true, as kubeadm does.
    admission: { ...flagged.admission, allowPrivileged: flags.bool('allow-privileged') ?? false },
    store,
    ...(otherStores && { otherStores }),
    bindAddress,
    port: flags.int('secure-port') ?? defaultPort,
    tls: pair,
    serviceClusterIpRange,
    serviceAccount,
    compaction: compactionOf(options),
    warmUp,
    verbosity: flags.int('v'),
    log,
  })
  controllers?.start({
    dial: server.dial,
    rootCA: pair.cert,
    signToken: async (claims) => signedToken(await serviceAccount.signingKey(), claims),
    log,
  })
  if ((flags.int('v') ?? 0) >= timingVerbosity)
    log(`API server started in ${Math.round(performance.now() - started)} ms`)
  return {
    url: localUrl(bindAddress, server.port),
    port: server.port,
    async stop({ graceMs = defaultGraceMs } = {}) {
      await controllers?.stop(graceMs)
      await server.stop({ graceMs })
    },
  }
}

/** The driver of a shared store agrees on compactions with the other servers. */
function compactionOf({ flags, store }: StandaloneApiServerOptions): ServeOptions['compaction'] {
  const interval = flags.durationMs('etcd-compaction-interval')
  return interval === 0 || store.isShared ? 'off' : { intervalMs: interval, retainMs: interval }
}
