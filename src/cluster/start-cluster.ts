/** Puts a cluster together: store, certificates, API server, compaction. Many may run side by side in one process. */
import { defaultHeaders } from '../apiserver/authentication/request-header.ts'
import { signedToken } from '../apiserver/authentication/service-accounts/signing-keys.ts'
import { joinedBundles } from '../apiserver/certificates/signed-by.ts'
import { defaultServiceRange } from '../apiserver/services/ranges/address-range.ts'
import { checkControllerFlags, planControllers } from '../controllers/index.ts'
import type { Store } from '../storage/store.ts'
import { localUrl, serverHosts } from './addresses.ts'
import { flaggedOptions } from './cluster-flags.ts'
import type { Cluster, ClusterOptions, StorageDirectory } from './cluster-options.ts'
import { clusterControllers, controllerTokens } from './controllers/index.ts'
import type { BegunControllers } from './controllers/run-task.ts'
import { clusterUser, userOf } from './credentials/cluster-users.ts'
import { usualIssuer } from './credentials/service-account-keys.ts'
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
const notBegun = 'not started yet'
/** On in clusters beyond the plug-ins that a lone API server has, as kubeadm does it. */
const clusterPlugins: readonly string[] = ['NodeRestriction']
/** Bootstrap tokens are looked after too, as kubeadm does it: the API server takes them. */
const clusterChoice: readonly string[] = ['*', 'bootstrap-signer-controller', 'token-cleaner-controller']
/** From this verbosity on, each step of the start is timed. */
const timingVerbosity = 2

/**
 * Starts a cluster and resolves when it is ready. Rejects with an ExplainedError where the user can do something about
 * it.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const onDisk = options.storage === 'memory' ? undefined : options.storage
  const data = onDisk && dataDirectory(onDisk.directory)
  const timed = stopwatch(options)
  const flagged = await flaggedOptions(options, data?.path)
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
  // Only who holds the store may make certificates: a second process on the same directory has failed by now.
  const pki = await timed('certificates loaded', data ? filePki(data.pki, hosts) : memoryPki(hosts))
  for (const warning of pki.warnings) log(warning)
  if (pki.made.length > 0) log(`certificates made in ${data?.pki}: ${[...pki.made].sort().join(', ')}`)
  const serviceAccount = { issuers: [usualIssuer], signingKey: pki.serviceAccountKey, ...flagged.serviceAccount }
  const nodes = nodesOf(options)
  const simulation = clusterSimulation({
    nodes,
    hasPast: data !== undefined,
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
  let controllers: BegunControllers | undefined
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
          'controller-manager': () => (controllers ? controllers.check?.() : notBegun),
        }),
        ...(schedulerToken && { scheduler: () => (scheduler ? scheduler.check?.() : notBegun) }),
      },
      verbosity: options.verbosity,
      warmUp: options.warmUp,
      compaction: options.compaction,
      log,
    }),
  )

  const url = localUrl(bindAddress, server.port)
  // A certificate of the user's is trusted as it stands: its authority may be unknown.
  const ca = options.tls?.cert ?? pki.authority.cert
  controllers = await timed(
    'controllers begun',
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
    (await timed('scheduler begun', clusterScheduler({ ...schedulerTask, token: schedulerToken.token })))
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

/** The controllers that run. */
function chosenOf({ controllers = true }: ClusterOptions): readonly string[] {
  if (typeof controllers !== 'boolean') return controllers
  return controllers ? clusterChoice : []
}

/** A number stands for so many usual ones. */
const nodesOf = ({ nodes }: ClusterOptions): SimulatedNodes | undefined =>
  typeof nodes === 'number' ? { count: nodes } : nodes

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

async function openStore(data: DataDirectory | undefined, options?: StorageDirectory): Promise<Store> {
  if (!data) return (await import('../storage/memory/index.ts')).memoryStore()
  return (await import('../storage/log/index.ts')).openLogStore({ ...options, directory: data.store })
}
