/** An API server alone, as the flags of kube-apiserver say: no authority and no administrator of its own, only what the flags name. */
import { join, resolve } from 'node:path'
import { type Authorizer, alwaysAllow, alwaysDeny, authenticatedOnly } from '../apiserver/authorization/authorizer.ts'
import { defaultServiceRange } from '../apiserver/services/address-range.ts'
import { admissionPluginErrors, type FlagValues } from '../apiserver/serving-flags/index.ts'
import { parseCidr } from '../lib/cidr.ts'
import { ExplainedError } from '../lib/explained-error.ts'
import type { Store } from '../storage/store.ts'
import { localUrl, serverHosts } from './addresses.ts'
import { readFrontProxy } from './front-proxy-files.ts'
import { readIdentity } from './identity-files.ts'
import { serviceAccountKey } from './pki/pki.ts'
import { certDirPair } from './pki/self-signed.ts'
import { serveStore } from './serve-store.ts'
import { readSigningKey, readVerificationKeys, usualIssuer } from './service-account-keys.ts'

export interface LoneServerOptions {
  readonly flags: FlagValues
  /** What relative paths of flags start from. */
  readonly cwd: string
  /** Closed by the caller, when the server has stopped. */
  readonly store: Store
  /** Where certificates and keys are kept that no flag names; without it keys live in memory. */
  readonly directory?: string
  readonly warmUp?: boolean
  readonly log: (line: string) => void
}

export interface LoneServer {
  readonly url: string
  readonly port: number
  /** Serves on for as long as `--shutdown-delay-duration` says, then ends; requests under way get `graceMs`. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

const usualPort = 6443
/** As `t8s up -v`. */
const timingVerbosity = 2
const defaultGraceMs = 10_000

/** Starts the server. Rejects with an ExplainedError for flags that do not fit together, files that cannot be read, a port in use. */
export async function startLoneServer({ flags, cwd, store, directory, warmUp, log }: LoneServerOptions): Promise<LoneServer> {
  const started = performance.now()
  check(flags)
  const path = (name: string): string | undefined => absolute(cwd, flags.text(name))
  const bindAddress = flags.text('bind-address') || '0.0.0.0'
  const serviceClusterIpRange = flags.text('service-cluster-ip-range') || defaultServiceRange
  const advertiseAddress = flags.text('advertise-address') || undefined
  const identity = readIdentity({
    tokenAuthFile: path('token-auth-file'),
    clientCaFile: path('client-ca-file'),
    tlsCertFile: path('tls-cert-file'),
    tlsPrivateKeyFile: path('tls-private-key-file'),
  })
  const certDir = path('cert-dir') ?? (directory && join(directory, 'pki')) ?? '/var/run/kubernetes'
  const hosts = [...new Set([...(advertiseAddress ? [advertiseAddress] : []), ...serverHosts(bindAddress, serviceClusterIpRange)])]
  const interval = flags.durationMs('etcd-compaction-interval')
  const server = await serveStore({
    store,
    bindAddress,
    port: flags.int('secure-port') ?? usualPort,
    advertiseAddress,
    tls: identity.tls ?? (await certDirPair(certDir, hosts)),
    clientCA: identity.clientCA,
    ...readFrontProxy({
      requestheaderClientCaFile: path('requestheader-client-ca-file'),
      requestheaderAllowedNames: flags.list('requestheader-allowed-names'),
      requestheaderUsernameHeaders: flags.list('requestheader-username-headers'),
      requestheaderUidHeaders: flags.list('requestheader-uid-headers'),
      requestheaderGroupHeaders: flags.list('requestheader-group-headers'),
      requestheaderExtraHeadersPrefix: flags.list('requestheader-extra-headers-prefix'),
      proxyClientCertFile: path('proxy-client-cert-file'),
      proxyClientKeyFile: path('proxy-client-key-file'),
    }),
    tokens: identity.tokens,
    runtimeConfig: runtimeConfig(flags),
    serviceClusterIpRange,
    serviceNodePortRange: flags.text('service-node-port-range') || undefined,
    serviceAccount: serviceAccount(flags, cwd, directory),
    disabledAdmissionPlugins: flags.list('disable-admission-plugins'),
    defaultTolerationSeconds: {
      notReady: flags.int('default-not-ready-toleration-seconds'),
      unreachable: flags.int('default-unreachable-toleration-seconds'),
    },
    ...access(flags, log),
    requestTimeoutMs: flags.durationMs('request-timeout'),
    compaction: interval === 0 ? 'off' : { intervalMs: interval, retainMs: interval },
    warmUp,
    log,
  })
  if ((flags.int('v') ?? 0) >= timingVerbosity) log(`API server started in ${Math.round(performance.now() - started)} ms`)
  const delayMs = flags.durationMs('shutdown-delay-duration') ?? 0
  return {
    url: localUrl(bindAddress, server.port),
    port: server.port,
    stop: ({ graceMs = defaultGraceMs } = {}) => server.stop({ graceMs, delayMs }),
  }
}

/** A path that a flag gave; undefined where it gave none. */
export const absolute = (cwd: string, path: string | undefined): string | undefined => (path ? resolve(cwd, path) : undefined)

const modes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node']

/** Throws an ExplainedError with upstream's words about values that cannot be, all of them at once. */
function check(flags: FlagValues): void {
  const given = flags.list('authorization-mode') ?? []
  const port = flags.int('secure-port') ?? usualPort
  const timeoutMs = flags.durationMs('request-timeout') ?? 1
  const ranges = flags.text('service-cluster-ip-range')?.split(',') ?? []
  const errors = [
    ...(port < 0 || port > 65_535 ? [`--secure-port ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`] : []),
    ...(timeoutMs <= 0 ? ['--request-timeout must be longer than 0'] : []),
    ...given.filter((mode) => !modes.includes(mode)).map((mode) => `authorization-mode "${mode}" is not a valid mode`),
    ...(new Set(given).size < given.length ? [`authorization-mode [${given.map((mode) => `"${mode}"`).join(' ')}] has mode specified more than once`] : []),
    ...admissionPluginErrors(flags.list('enable-admission-plugins') ?? [], flags.list('disable-admission-plugins') ?? []),
    ...(ranges.some((range) => range !== '' && !parseCidr(range.trim())) ? ['service-cluster-ip-range is not a valid cidr'] : []),
    ...(ranges.length > 2 ? ['--service-cluster-ip-range must not contain more than two entries'] : []),
  ]
  if (errors.length > 0) throw new ExplainedError(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
}

function runtimeConfig(flags: FlagValues): string[] {
  return [...(flags.map('runtime-config') ?? [])].map(([key, value]) => `${key}=${value || 'true'}`)
}

function serviceAccount(flags: FlagValues, cwd: string, directory: string | undefined) {
  const file = absolute(cwd, flags.text('service-account-signing-key-file'))
  const key = file ? readSigningKey(file) : undefined
  const files = flags.list('service-account-key-file')?.map((name) => resolve(cwd, name))
  return {
    issuer: flags.list('service-account-issuer')?.[0] ?? usualIssuer,
    signingKey: key ? async () => key : serviceAccountKey(directory && join(directory, 'pki')),
    verificationKeys: files ? readVerificationKeys(files) : undefined,
  }
}

/** Who may come in and do what. Says where that is less strict than the flag asks for. */
function access(flags: FlagValues, log: (line: string) => void): { readonly anonymousAuth?: boolean; readonly authorizer?: Authorizer } {
  const given = flags.list('authorization-mode') ?? []
  const anonymousAuth = flags.bool('anonymous-auth')
  // As upstream: everybody may do everything, so they have to say who they are.
  if (given.includes('AlwaysAllow')) return { anonymousAuth: false, authorizer: alwaysAllow }
  if (given.length > 0 && given.every((mode) => mode === 'AlwaysDeny')) return { anonymousAuth, authorizer: alwaysDeny }
  if (given.length > 0) log(`--authorization-mode=${given.join(',')}: there is no authorization yet, every authenticated user may do everything`)
  return { anonymousAuth, authorizer: authenticatedOnly }
}
