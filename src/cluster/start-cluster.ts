/** Puts a cluster together: store, certificates, API server, compaction. Many may run side by side in one process. */
import { defaultHeaders, type RequestHeaderOptions } from '../apiserver/authentication/request-header.ts'
import { signedToken } from '../apiserver/authentication/service-accounts/signing-keys.ts'
import { joinedBundles } from '../apiserver/authentication/signed-by.ts'
import type { TokenUser } from '../apiserver/authentication/tokens/static-tokens.ts'
import { defaultServiceRange } from '../apiserver/services/address-range.ts'
import { type ControllerIdentity, controllerManager, runControllers } from '../controllers/index.ts'
import { type Access, type Kubeconfig, kubeconfigFor, kubeconfigYaml } from '../kubeconfig/kubeconfig.ts'
import { ExplainedError } from '../lib/explained-error.ts'
import type { Store } from '../storage/store.ts'
import { localUrl, serverHosts } from './addresses.ts'
import { type DataDirectory, dataDirectory } from './data-directory.ts'
import { certificateSigner } from './pki/certificate-signer.ts'
import type { KeyPair } from './pki/key-pair.ts'
import { filePki, memoryPki } from './pki/pki.ts'
import { usualIssuer } from './service-account-keys.ts'
import type { ServingOptions } from './serving-options/index.ts'

export interface ClusterOptions {
  /** `memory`, or the directory that keeps the data and the certificates; it is made if missing. `memory` unless said. */
  readonly storage?: 'memory' | { readonly directory: string }
  /** 127.0.0.1 unless said. */
  readonly bindAddress?: string
  /** Any free port unless said. */
  readonly port?: number
  /** Bearer tokens that are accepted, beside the administrator's certificate. */
  readonly tokens?: readonly TokenUser[]
  /** A serving certificate of one's own. */
  readonly tls?: KeyPair
  /** PEM bundle of authorities whose client certificates are accepted, beside the cluster's own. */
  readonly clientCA?: string
  /** Front proxies that may say who a user is, in place of the cluster's own. */
  readonly requestHeader?: RequestHeaderOptions
  /** What is shown to the servers of aggregated APIs, in place of a certificate made here. */
  readonly proxyClient?: KeyPair
  /** As `--runtime-config`: `batch/v2=true`, `api/alpha=true`. */
  readonly runtimeConfig?: readonly string[]
  /** One range, or two with a comma between them. */
  readonly serviceClusterIpRange?: string
  /** Flags of kube-apiserver beyond these options: `--audit-log-path=/tmp/audit.log`. Relative paths start from the current directory. */
  readonly apiServerFlags?: readonly string[]
  /**
   * The controllers that run, as `--controllers` names them: `*` for all, `name`, `-name`. All unless said. Without them namespaces
   * have no accounts, so that pods need `--disable-admission-plugins=ServiceAccount`.
   */
  readonly controllers?: readonly string[]
  /** Makes the first requests fast at the price of 0.3 s of CPU after the start: for clusters that live long. */
  readonly warmUp?: boolean
  /**
   * How often old revisions are forgotten, how long they are kept before (five minutes each unless said, as upstream), and how many
   * bytes of them at most (128 MB).
   */
  readonly compaction?: { readonly intervalMs?: number; readonly retainMs?: number; readonly maxHistoryBytes?: number }
  /** Called with one line per step of the start, and for what is worth knowing later. */
  readonly log?: (line: string) => void
  /** As `-v`: 0 is calm, 2 shows how long each step of the start took. */
  readonly verbosity?: number
}

export interface Cluster {
  /** `https://127.0.0.1:6443`: where this machine reaches the server. */
  readonly url: string
  readonly port: number
  /** What a client needs to be the administrator. */
  readonly client: Access
  readonly kubeconfig: Kubeconfig
  readonly kubeconfigYaml: string
  /** Somebody with a client certificate of the cluster's authority, who may do what roles and bindings allow: for tests of what somebody may not do. */
  user(identity: UserIdentity): Promise<ClusterUser>
  /** Lets requests finish for up to `graceMs` (5,000 unless said), then releases port and store. May be called twice. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

/** Who a client certificate names. */
export interface UserIdentity {
  readonly name: string
  /** Beside `system:authenticated`. */
  readonly groups?: readonly string[]
}

export interface ClusterUser {
  readonly client: Access
  readonly kubeconfig: Kubeconfig
  readonly kubeconfigYaml: string
}

const contextName = 't8s'
const defaultGraceMs = 5000
/** On in clusters beyond the plug-ins that a lone API server has, as kubeadm does it. */
const clusterPlugins: readonly string[] = ['NodeRestriction']
/** From this verbosity on, each step of the start is timed. */
const timingVerbosity = 2

/** Starts a cluster and resolves when it is ready. Rejects with an ExplainedError where the user can do something about it. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const data = !options.storage || options.storage === 'memory' ? undefined : dataDirectory(options.storage.directory)
  const timed = stopwatch(options)
  const flagged = await flaggedOptions(options, data?.path)
  const store = await timed('store opened', openStore(data))
  try {
    return await serve(store, data, options, flagged, timed)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Serves `store`, and closes it when the cluster stops. */
async function serve(store: Store, data: DataDirectory | undefined, options: ClusterOptions, flagged: ServingOptions, timed: Stopwatch): Promise<Cluster> {
  const { bindAddress = '127.0.0.1', port = 0, serviceClusterIpRange = defaultServiceRange, log = () => {} } = options
  const hosts = serverHosts(bindAddress, serviceClusterIpRange)
  // Only who holds the store may make certificates: a second process on the same directory has failed by now.
  const pki = await timed('certificates loaded', data ? filePki(data.pki, hosts) : memoryPki(hosts))
  if (pki.made.length > 0) log(`certificates made in ${data?.pki}: ${[...pki.made].sort().join(', ')}`)
  const serviceAccount = { issuers: [usualIssuer], signingKey: pki.serviceAccountKey, ...flagged.serviceAccount }
  const manager = controllerManager(
    {
      rootCA: options.tls?.cert ?? pki.authority.cert,
      signer: certificateSigner(pki.authority),
      signToken: async (claims) => signedToken(await serviceAccount.signingKey(), claims),
    },
    options.controllers,
  )
  const { serveStore } = await timed('API server loaded', import('./serve-store.ts'))
  const clientCA = joinedBundles([pki.authority.cert, options.clientCA ?? '', flagged.clientCA ?? ''].filter((bundle) => bundle !== ''))
  const server = await timed(
    'API server started',
    serveStore({
      ...flagged,
      admission: { ...flagged.admission, enabled: [...clusterPlugins, ...(flagged.admission?.enabled ?? [])] },
      authorization: flagged.authorization ?? { modes: ['Node', 'RBAC'] },
      store,
      bindAddress,
      port,
      tls: options.tls ?? pki.server,
      clientCA,
      requestHeader: options.requestHeader ??
        flagged.requestHeader ?? { ...defaultHeaders, clientCA: pki.frontProxy.authority.cert, allowedNames: [pki.frontProxy.name] },
      proxyClient: options.proxyClient ?? flagged.proxyClient ?? pki.frontProxy.client,
      tokens: [
        ...(options.tokens ?? []),
        ...(flagged.tokens ?? []),
        ...[manager.manager, ...manager.controllers.map(({ identity }) => identity)].map(tokenUser),
      ],
      bootstrapTokens: flagged.bootstrapTokens ?? true,
      runtimeConfig: [...(options.runtimeConfig ?? []), ...(flagged.runtimeConfig ?? [])],
      serviceClusterIpRange,
      serviceAccount,
      warmUp: options.warmUp,
      compaction: options.compaction,
      log,
    }),
  )

  const url = localUrl(bindAddress, server.port)
  // A certificate of the user's is trusted as it stands: its authority may be unknown.
  const ca = options.tls?.cert ?? pki.authority.cert
  const controllers = runControllers(manager, { url, ca }, log)
  const access = (pair: KeyPair): Access => ({ url, ca, ...pair })
  const client = access(pki.admin)
  const kubeconfig = kubeconfigFor(contextName, client)
  let stopped: Promise<void> | undefined
  const stop = async (graceMs: number): Promise<void> => {
    await controllers.stop()
    await server.stop({ graceMs })
    await store.close()
  }
  return {
    url,
    port: server.port,
    client,
    kubeconfig,
    kubeconfigYaml: kubeconfigYaml(kubeconfig),
    user: async (identity) => userOf(access(await issueUser(pki.authority, identity)), identity.name),
    stop({ graceMs = defaultGraceMs } = {}) {
      stopped ??= stop(graceMs)
      return stopped
    },
  }
}

/** What the server is told of a controller. */
const tokenUser = ({ user, token }: ControllerIdentity): TokenUser => ({
  token,
  user: { name: user, groups: user.startsWith('system:serviceaccount:') ? ['system:serviceaccounts', 'system:serviceaccounts:kube-system'] : [] },
})

async function issueUser(authority: KeyPair, { name, groups }: UserIdentity): Promise<KeyPair> {
  const { issueCertificate } = await import('./pki/certificates.ts')
  return issueCertificate(authority, { commonName: name, organizations: groups, usage: 'client' }, new Date())
}

function userOf(client: Access, name: string): ClusterUser {
  const kubeconfig = kubeconfigFor(name, client)
  return { client, kubeconfig, kubeconfigYaml: kubeconfigYaml(kubeconfig) }
}

/** What `apiServerFlags` say. */
async function flaggedOptions({ apiServerFlags = [], log = () => {} }: ClusterOptions, directory: string | undefined): Promise<ServingOptions> {
  if (apiServerFlags.length === 0) return {}
  const [{ apiServerFlags: parse, idleFlagLines }, { checkServingFlags, servingOptions }] = await Promise.all([
    import('../apiserver/serving-flags/index.ts'),
    import('./serving-options/index.ts'),
  ])
  const flags = explained(() => parse(apiServerFlags))
  checkServingFlags(flags)
  for (const line of idleFlagLines(flags)) log(line)
  return servingOptions({ flags, cwd: process.cwd(), directory, log })
}

/** A command line that is not taken is the user's to mend. */
function explained<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof Error ? new ExplainedError(error.message, { cause: error }) : error
  }
}

type Stopwatch = <T>(step: string, work: Promise<T>) => Promise<T>

/** Logs how long steps take, if that is wanted. */
function stopwatch({ verbosity = 0, log = () => {} }: ClusterOptions): Stopwatch {
  return async (step, work) => {
    const started = performance.now()
    const result = await work
    if (verbosity >= timingVerbosity) log(`${step} in ${Math.round(performance.now() - started)} ms`)
    return result
  }
}

async function openStore(data: DataDirectory | undefined): Promise<Store> {
  if (!data) return (await import('../storage/memory/index.ts')).memoryStore()
  return (await import('../storage/log/index.ts')).openLogStore({ directory: data.store })
}
