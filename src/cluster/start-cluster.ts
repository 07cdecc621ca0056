/** Starts a cluster: store, certificates, API server, compaction, controllers. A process may run many. */
import { defaultHeaders } from '../apiserver/authentication/request-header.ts'
import { signedToken } from '../apiserver/authentication/service-accounts/signing-keys.ts'
import { joinedBundles } from '../apiserver/certificates/signed-by.ts'
import { defaultServiceRange } from '../apiserver/services/ranges/address-range.ts'
import { checkControllerFlags, planControllers } from '../controllers/index.ts'
import type { Store } from '../storage/store.ts'
import { localUrl, serverHosts } from './addresses.ts'
import { optionsFromFlags } from './cluster-flags.ts'
import type { Cluster, ClusterOptions, StorageDirectory } from './cluster-options.ts'
import { clusterControllers, controllerTokens } from './controllers/index.ts'
import type { StartedControllers } from './controllers/run-task.ts'
import { clusterUser, userOf } from './credentials/cluster-users.ts'
import { defaultIssuer } from './credentials/service-account-keys.ts'
import { type DataDirectory, dataDirectory } from './data-directory.ts'
import { hostPathStorage } from './host-path-storage.ts'
import { kubeletAddressTypes } from './kubelet-addresses.ts'
import { filePki, memoryPki } from './pki/pki.ts'
import { checkScheduler, clusterScheduler, schedulerUser } from './scheduler/index.ts'
import type { ServingOptions } from './serving-options/index.ts'
import { clusterSimulation, type SimulatedNodes } from './simulation/index.ts'
import type { RunningComponent } from './threads/component-thread.ts'

export type { Cluster, ClusterOptions } from './cluster-options.ts'

const contextName = 't8s'
const defaultGraceMs = 5000
const notStarted = 'not started yet'
/** Enabled in clusters besides the plugins of a separate API server, as kubeadm does. */
const clusterPlugins: readonly string[] = ['NodeRestriction']
/** Includes the controllers of bootstrap tokens, as kubeadm does, since the API server accepts these tokens. */
const clusterChoice: readonly string[] = ['*', 'bootstrap-signer-controller', 'token-cleaner-controller']
/** From this verbosity on, the duration of each step is logged. */
const timingVerbosity = 2

/**
 * Starts a cluster and resolves when it is ready. Rejects with an ExplainedError if the user can fix the problem.
 *
 * @example
 * const cluster = await startCluster({ storage: 'memory' })
 * console.log(cluster.kubeconfigYaml)
 * await cluster.stop()
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const onDisk = options.storage === 'memory' ? undefined : options.storage
  const data = onDisk && dataDirectory(onDisk.directory)
  const timed = stopwatch(options)
  const flagged = await optionsFromFlags(options, data?.path)
  if (typeof options.scheduler === 'object') await checkScheduler(options.scheduler)
  const store = await timed('store opened', openStore(data, onDisk))
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
  flagged: ServingOptions,
  timed: Stopwatch,
): Promise<Cluster> {
  const { bindAddress = '127.0.0.1', port = 0, serviceClusterIpRange = defaultServiceRange, log = () => {} } = options
  const hosts = serverHosts(bindAddress, serviceClusterIpRange)
  // After opening the store, so that a second process on the same directory fails before it creates certificates.
  const pki = await timed('certificates loaded', data ? filePki(data.pki, hosts) : memoryPki(hosts))
  for (const warning of pki.warnings) log(warning)
  if (pki.created.length > 0) log(`certificates created in ${data?.pki}: ${[...pki.created].sort().join(', ')}`)
  const serviceAccount = { issuers: [defaultIssuer], signingKey: pki.serviceAccountKey, ...flagged.serviceAccount }
  const nodes = nodesOf(options)
  const simulation = clusterSimulation({
    nodes,
    mayHaveNodes: data !== undefined,
    onThread: options.controllersThread ?? false,
    log,
  })
  const storage = hostPathStorage({ ...simulation.controllerFlags, ...options.controllerFlags }, data)
  checkControllerFlags(storage.flags)
  const plan = planControllers({
    chosen: chosenOf(options),
    flags: storage.flags,
    features: flagged.features?.settings,
  })
  const schedulerChoice = options.scheduler ?? (nodes !== undefined && nodes.count !== 0)
  const schedulerToken = schedulerChoice ? schedulerUser() : undefined
  let controllers: StartedControllers | undefined
  let scheduler: RunningComponent | undefined
  const { serveStore } = await timed('API server loaded', import('./serve-store.ts'))
  const clientCA = joinedBundles(
    [pki.authority.cert, options.clientCA ?? '', flagged.clientCA ?? ''].filter((bundle) => bundle !== ''),
  )
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
        flagged.requestHeader ?? {
          ...defaultHeaders,
          clientCA: pki.frontProxy.authority.cert,
          allowedNames: [pki.frontProxy.name],
        },
      proxyClient: options.proxyClient ?? flagged.proxyClient ?? pki.frontProxy.client,
      tokens: [
        ...(options.tokens ?? []),
        ...(flagged.tokens ?? []),
        ...controllerTokens(plan),
        ...(schedulerToken ? [schedulerToken] : []),
        ...(simulation.user ? [simulation.user] : []),
      ],
      kubelets: { client: pki.kubeletClient, addressTypes: kubeletAddressTypes, ...flagged.kubelets },
      bootstrapTokens: flagged.bootstrapTokens ?? true,
      runtimeConfig: [...(options.runtimeConfig ?? []), ...(flagged.runtimeConfig ?? [])],
      serviceClusterIpRange,
      serviceAccount,
      components: {
        ...(plan.controllers.length > 0 && {
          'controller-manager': () => (controllers ? controllers.check?.() : notStarted),
        }),
        ...(schedulerToken && { scheduler: () => (scheduler ? scheduler.check?.() : notStarted) }),
      },
      verbosity: options.verbosity,
      warmUp: options.warmUp,
      compaction: options.compaction,
      log,
    }),
  )

  const url = localUrl(bindAddress, server.port)
  // The user's own certificate is trusted directly, since its authority may be unknown.
  const ca = options.tls?.cert ?? pki.authority.cert
  controllers = await timed(
    'controllers started',
    clusterControllers({
      plan,
      server: { url, ca },
      authority: pki.authority,
      manager:
        options.controllerManagerPort === undefined
          ? undefined
          : { bindAddress, port: options.controllerManagerPort, tls: options.tls ?? pki.server },
      signToken: async (claims) => signedToken(await serviceAccount.signingKey(), claims),
      onThread: options.controllersThread ?? false,
      log,
    }).catch(async (error) => {
      await server.stop({ graceMs: 0 })
      throw error
    }),
  )
  const { onThread = false, ...choice } = typeof schedulerChoice === 'object' ? schedulerChoice : {}
  const schedulerTask = { ...choice, server: { url, ca }, features: flagged.features?.settings, onThread, log }
  scheduler =
    schedulerToken &&
    (await timed('scheduler started', clusterScheduler({ ...schedulerTask, token: schedulerToken.token })))
  const administrator = userOf({ url, ca, ...pki.admin }, contextName)
  await storage.begin(administrator.client)
  const simulated = simulation.begin({ url, ca }, administrator.client, pki)
  let stopped: Promise<void> | undefined
  const stop = async (graceMs: number): Promise<void> => {
    await Promise.all([controllers?.stop(), scheduler?.stop(), simulation.stop()])
    await server.stop({ graceMs })
    await store.close()
    await storage.end()
  }
  return {
    url,
    port: server.port,
    ...administrator,
    synced: Promise.all([controllers?.synced, scheduler?.synced, simulated]).then(() => {}),
    user: (identity) => clusterUser(pki.authority, identity, { url, ca }),
    stop({ graceMs = defaultGraceMs } = {}) {
      stopped ??= stop(graceMs)
      return stopped
    },
  }
}

/** Returns the names of the controllers to run. */
function chosenOf({ controllers = true }: ClusterOptions): readonly string[] {
  if (typeof controllers !== 'boolean') return controllers
  return controllers ? clusterChoice : []
}

/** A number is short for that many default nodes. */
const nodesOf = ({ nodes }: ClusterOptions): SimulatedNodes | undefined =>
  typeof nodes === 'number' ? { count: nodes } : nodes

type Stopwatch = <T>(step: string, work: Promise<T>) => Promise<T>

/** Logs the duration of steps at a high verbosity. */
function stopwatch({ verbosity = 0, log = () => {} }: ClusterOptions): Stopwatch {
  return async (step, work) => {
    const started = performance.now()
    const result = await work
    if (verbosity >= timingVerbosity) log(`${step} in ${Math.round(performance.now() - started)} ms`)
    return result
  }
}

async function openStore(data: DataDirectory | undefined, options?: StorageDirectory): Promise<Store> {
  if (!data) return (await import('../storage/memory/index.ts')).memoryStore()
  return (await import('../storage/log/index.ts')).openLogStore({ ...options, directory: data.store })
}
