/** Puts a cluster together: store, certificates, API server, compaction. Many may run side by side in one process. */
import type { AdmissionOptions } from '../apiserver/admission/index.ts'
import { defaultHeaders, type RequestHeaderOptions } from '../apiserver/authentication/request-header.ts'
import type { TokenUser } from '../apiserver/authentication/token-file.ts'
import type { ApiServerOptions } from '../apiserver/server.ts'
import { defaultServiceRange } from '../apiserver/services/address-range.ts'
import { type Access, type Kubeconfig, kubeconfigFor, kubeconfigYaml } from '../kubeconfig/kubeconfig.ts'
import { ExplainedError } from '../lib/explained-error.ts'
import type { Store } from '../storage/store.ts'
import { localUrl, serverHosts } from './addresses.ts'
import { type DataDirectory, dataDirectory } from './data-directory.ts'
import type { KeyPair } from './pki/key-pair.ts'
import { filePki, memoryPki } from './pki/pki.ts'
import { usualIssuer } from './service-account-keys.ts'

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
  /** Lets requests finish for up to `graceMs` (5,000 unless said), then releases port and store. May be called twice. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

const contextName = 't8s'
const defaultGraceMs = 5000
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
async function serve(
  store: Store,
  data: DataDirectory | undefined,
  options: ClusterOptions,
  flagged: Partial<ApiServerOptions>,
  timed: Stopwatch,
): Promise<Cluster> {
  const { bindAddress = '127.0.0.1', port = 0, serviceClusterIpRange = defaultServiceRange, log = () => {} } = options
  const hosts = serverHosts(bindAddress, serviceClusterIpRange)
  // Only who holds the store may make certificates: a second process on the same directory has failed by now.
  const pki = await timed('certificates loaded', data ? filePki(data.pki, hosts) : memoryPki(hosts))
  if (pki.made.length > 0) log(`certificates made in ${data?.pki}: ${[...pki.made].sort().join(', ')}`)
  const { serveStore } = await timed('API server loaded', import('./serve-store.ts'))
  const clientCA = [pki.authority.cert, options.clientCA, flagged.clientCA].filter(Boolean).join('\n')
  const server = await timed(
    'API server started',
    serveStore({
      ...flagged,
      admission: withoutAccounts(flagged.admission), // Goes when every namespace gets its default account.
      store,
      bindAddress,
      port,
      tls: options.tls ?? pki.server,
      clientCA,
      requestHeader: options.requestHeader ??
        flagged.requestHeader ?? { ...defaultHeaders, clientCA: pki.frontProxy.authority.cert, allowedNames: [pki.frontProxy.name] },
      proxyClient: options.proxyClient ?? flagged.proxyClient ?? pki.frontProxy.client,
      tokens: [...(options.tokens ?? []), ...(flagged.tokens ?? [])],
      runtimeConfig: [...(options.runtimeConfig ?? []), ...(flagged.runtimeConfig ?? [])],
      serviceClusterIpRange,
      serviceAccount: { issuer: usualIssuer, signingKey: pki.serviceAccountKey },
      warmUp: options.warmUp,
      compaction: options.compaction,
      log,
    }),
  )

  const url = localUrl(bindAddress, server.port)
  // A certificate of the user's is trusted as it stands: its authority may be unknown.
  const client: Access = { url, ca: options.tls?.cert ?? pki.authority.cert, ...pki.admin }
  const kubeconfig = kubeconfigFor(contextName, client)
  let stopped: Promise<void> | undefined
  const stop = async (graceMs: number): Promise<void> => {
    await server.stop({ graceMs })
    await store.close()
  }
  return {
    url,
    port: server.port,
    client,
    kubeconfig,
    kubeconfigYaml: kubeconfigYaml(kubeconfig),
    stop({ graceMs = defaultGraceMs } = {}) {
      stopped ??= stop(graceMs)
      return stopped
    },
  }
}

/** ServiceAccount refuses pods in namespaces without accounts: it is off unless it is asked for by name. */
const withoutAccounts = ({ disabled = [], ...others }: AdmissionOptions = {}): AdmissionOptions =>
  others.enabled?.includes('ServiceAccount') ? { disabled, ...others } : { disabled: [...disabled, 'ServiceAccount'], ...others }

/** What `apiServerFlags` say. */
async function flaggedOptions({ apiServerFlags = [], log = () => {} }: ClusterOptions, directory: string | undefined): Promise<Partial<ApiServerOptions>> {
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
