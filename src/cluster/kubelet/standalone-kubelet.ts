/** A kubelet for any API server (`t8s kubelet`): its credentials, configuration and start. */
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { featureMetrics } from '../../apiserver/feature-gates/feature-metrics.ts'
import { versionInfo } from '../../apiserver/version/version.ts'
import { versionMetrics } from '../../apiserver/version/version-metrics.ts'
import type { LoadedAccess } from '../../client/connection/load-access.ts'
import { restClientMetrics } from '../../client/connection/request-metrics.ts'
import type { KubeletConfiguration } from '../../kubelet/configuration/index.ts'
import { type KubeletOptions, type RunningKubelet, runKubelet } from '../../kubelet/kubelet.ts'
import { machineAddresses } from '../../kubelet/registration/machine.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { fileValue } from '../../lib/files/file-value.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { Log } from '../../lib/log/log.ts'
import { Verbosity } from '../../lib/log/verbosity.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { release } from '../../lib/release.ts'
import { nodeTypeLabel, realNode } from '../../node/status/node-type.ts'
import { PluginWatch } from '../../runtime/network/plugins/plugin-watch.ts'
import { machineHosts } from '../addresses/addresses.ts'
import { containerPolicy } from './container-policy.ts'
import { type FlagValues, nodeLabels } from './flags/index.ts'
import { prepareKernel } from './kernel-parameters.ts'
import { prepareMachine } from './machine-checks.ts'
import { nodeAccess } from './node-access.ts'
import { profilePages } from './profile-pages.ts'
import { rateLimitOf } from './rate-limit.ts'
import { fileText, servingCredentials } from './serving-credentials.ts'
import { tlsLimits } from './tls-limits.ts'

export interface StandaloneKubeletOptions {
  readonly flags: FlagValues
  /** The KubeletConfiguration in effect. */
  readonly configuration: KubeletConfiguration
  readonly log: Log
  /** Cancels the start, as the wait for a certificate. */
  readonly signal: AbortSignal
}

/** Rejects with an ExplainedError for unusable files and flags, and for a runtime that does not answer. */
export async function startStandaloneKubelet(options: StandaloneKubeletOptions): Promise<RunningKubelet> {
  const lifetime = new Lifetime()
  try {
    return await start(options, lifetime)
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

async function start(options: StandaloneKubeletOptions, lifetime: Lifetime): Promise<RunningKubelet> {
  const { flags, configuration, log } = options
  prepareMachine(configuration, log)
  prepareKernel(configuration.protectKernelDefaults ?? false, log)
  const root = resolve(flags.text('root-dir') ?? '/var/lib/kubelet')
  const nodeName = (flags.text('hostname-override') ?? hostname()).trim().toLowerCase()
  const nodeIps = flags.list('node-ip') ?? machineAddresses().slice(0, 1)
  const metrics = programMetrics(configuration)
  const common = { pkiFolder: resolve(flags.text('cert-dir') ?? join(root, 'pki')), nodeName, metrics, schedule, log }
  const access = await accessOf(options, common, lifetime)
  const serving = await servingCredentials(
    {
      ...common,
      configuration,
      access,
      nodeHosts: [nodeName, ...nodeIps],
      machineHosts: machineHosts(configuration.address),
    },
    lifetime,
  )
  const kubelet = await running({
    server: { ...access, ...rateLimitOf(configuration), metrics: restClientMetrics(metrics) },
    configuration,
    root,
    podLogs: resolve(configuration.podLogsDir),
    nodeName,
    nodeIps,
    nodeLabels: { [nodeTypeLabel]: realNode, ...nodeLabels(flags) },
    serving,
    clientCA: clientAuthority(configuration, access, log),
    tlsLimits: tlsLimits(configuration.tlsMinVersion, configuration.tlsCipherSuites),
    redirectContainerStreaming: flags.bool('redirect-container-streaming') ?? false,
    credentialProviders: credentialProviders(flags),
    containerPolicy: containerPolicy(flags),
    profile: profilePages,
    metrics,
    verbosity: new Verbosity(configuration.logging.verbosity ?? 0, log),
    log,
  })
  lifetime.onEnd(() => kubelet.stop())
  const plugins = new PluginWatch({
    onConflict: (pod, message) => kubelet.warnOf(pod, 'AddressConflict', message),
    log,
  })
  lifetime.onEnd(() => plugins.close())
  plugins.start()
  return { ...kubelet, stop: () => lifetime.end() }
}

async function running(options: KubeletOptions): Promise<RunningKubelet> {
  try {
    return await runKubelet(options)
  } catch (error) {
    const { containerRuntimeEndpoint } = options.configuration
    throw new ExplainedError(
      `the kubelet cannot start: ${reasonOf(error)}; the container runtime is expected at ` +
        `${containerRuntimeEndpoint}: start it, or name its socket with --container-runtime-endpoint`,
      { cause: error },
    )
  }
}

const schedule = (callback: () => void, ms: number): (() => void) => {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

/** The metrics of every component of Kubernetes: its version and its features. */
function programMetrics({ featureGates }: KubeletConfiguration): MetricsRegistry {
  const metrics = new MetricsRegistry()
  versionMetrics(metrics, versionInfo(release))
  featureMetrics(metrics, new FeatureGates(featureGates))
  return metrics
}

type Common = Pick<Parameters<typeof nodeAccess>[0], 'pkiFolder' | 'nodeName' | 'metrics' | 'schedule' | 'log'>

function accessOf(
  { flags, configuration, signal }: StandaloneKubeletOptions,
  common: Common,
  lifetime: Lifetime,
): Promise<LoadedAccess> {
  const [kubeconfig, bootstrapKubeconfig] = [flags.text('kubeconfig'), flags.text('bootstrap-kubeconfig')]
  return nodeAccess(
    {
      ...common,
      kubeconfig: kubeconfig && resolve(kubeconfig),
      bootstrapKubeconfig: bootstrapKubeconfig && resolve(bootstrapKubeconfig),
      rotates: configuration.rotateCertificates,
      signal,
    },
    lifetime,
  )
}

/** As upstream, both flags are needed. */
function credentialProviders(flags: FlagValues): KubeletOptions['credentialProviders'] {
  const config = flags.text('image-credential-provider-config')
  const folder = flags.text('image-credential-provider-bin-dir')
  if (!config !== !folder)
    throw new ExplainedError(
      'credential providers need both --image-credential-provider-config and --image-credential-provider-bin-dir',
    )
  return config && folder ? { config: resolve(config), folder: resolve(folder) } : undefined
}

/** The CA of clients: the file of the configuration, which may change, or the cluster's own. */
function clientAuthority(
  { authentication }: KubeletConfiguration,
  { ca }: LoadedAccess,
  log: Log,
): string | (() => string) {
  const file = authentication.x509?.clientCAFile
  if (!file) return ca ?? ''
  const path = resolve(file)
  return fileValue({ paths: [path], read: () => fileText(path), log })
}
