/** Runs the kubelet of a cluster's real node and, if it has no other one, its container runtime. */
import { mkdirSync } from 'node:fs'
import { type RunningKubelet, runKubelet } from '../../../kubelet/kubelet.ts'
import type { KubeletOptions } from '../../../kubelet/options.ts'
import { Lifetime } from '../../../lib/lifetime/lifetime.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { NewPod, PolicyAgent } from '../../../network/policy/policy-agent.ts'
import { findCgroups } from '../../../node/cgroups/tree/find-cgroups.ts'
import { nodeTypeLabel, realNode } from '../../../node/status/node-type.ts'
import { PluginWatch } from '../../../runtime/network/plugins/plugin-watch.ts'
import type { RunningRuntime } from '../../../runtime/runtime.ts'
import { profilePages } from '../../kubelet/profile-pages.ts'
import { rateLimitOf } from '../../kubelet/rate-limit.ts'
import { tlsLimits } from '../../kubelet/tls-limits.ts'
import { subnetFileIn } from '../services/flannel-files.ts'
import { type NodeServices, servicesOf } from '../services/node-services.ts'
import { type EmbeddedRuntime, pluginFolders } from '../settings/embedded-runtime.ts'
import type { RealNodeTask } from './messages.ts'

type Log = (line: string) => void
/** Records a warning about the addresses of a pod. */
type Warn = (pod: Omit<NewPod, 'addresses'>, message: string) => void

/** A kubelet that runs. */
export interface RunningNode {
  /** Resolves when the node is registered and its pods are known. */
  readonly started: Promise<void>
  /** Stops the kubelet and the runtime; containers continue. */
  stop(): Promise<void>
}

/** Rejects if the runtime or the kubelet cannot start. */
export async function startRealNode(task: RealNodeTask, log: Log): Promise<RunningNode> {
  for (const folder of [task.root, task.podLogs]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lifetime = new Lifetime()
  try {
    const { cgroupRoot } = task.configuration
    if (cgroupRoot === task.runtime?.cgroup) createCgroup(cgroupRoot, lifetime)
    const services = servicesOf(task, log)
    lifetime.onEnd(() => services.endLast())
    const { promise: hasStarted, resolve: setStarted } = Promise.withResolvers<void>()
    const { promise: kubeletRuns, resolve: setKubelet } = Promise.withResolvers<RunningKubelet>()
    const warn: Warn = (pod, message) => void kubeletRuns.then(({ warnOf }) => warnOf(pod, 'AddressConflict', message))
    const parts = startParts(task, hasStarted, warn, log)
    endParts(parts, services, { endsPods: task.endsPods, lifetime, log })
    const [, runtime] = await Promise.all([parts.policies, parts.runtime])
    const kubelet = await runKubelet(kubeletOptions(task, log))
    setKubelet(kubelet)
    lifetime.onEnd(() => kubelet.stop())
    const plugins = new PluginWatch({ onConflict: warn, log })
    lifetime.onEnd(() => plugins.close())
    plugins.start()
    lifetime.onEnd(() => services.stop())
    const started = kubelet.started.then(() => {
      log(`node: real (containers by ${runtimeText(task, runtime)})`)
      services.start()
      setStarted()
    })
    return { started, stop: () => lifetime.end() }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

/** The policies and the runtime, which start beside each other. */
interface NodeParts {
  readonly policies: Promise<PolicyAgent | undefined>
  readonly runtime: Promise<RunningRuntime | undefined>
}

function startParts(task: RealNodeTask, hasStarted: Promise<void>, warn: Warn, log: Log): NodeParts {
  const policies = policiesOf(task, hasStarted, log)
  // A pod waits for its policies, even before they have started.
  const admit = async (pod: NewPod): Promise<void> => (await policies)?.admit(pod)
  const runtime = task.runtime ? startRuntime(task.runtime, task.peers, admit, warn, log) : Promise.resolve(undefined)
  return { policies, runtime }
}

/** Time in ms for containers to end by themselves when their node ends. */
const podGraceMs = 2_000

interface EndOptions extends Pick<RealNodeTask, 'endsPods'> {
  readonly lifetime: Lifetime
  readonly log: Log
}

/** The runtime stops first. Rules go with the last container. */
function endParts(
  { policies, runtime }: NodeParts,
  services: NodeServices,
  { endsPods, lifetime, log }: EndOptions,
): void {
  let runsOn = 0
  lifetime.onEnd(async () => {
    const agent = await policies.catch(() => undefined)
    await agent?.stop()
    if (runsOn === 0) await agent?.removeRules()
  })
  lifetime.onEnd(async () => {
    const running = await runtime.catch(() => undefined)
    if (!running) return
    if (endsPods) await running.stopPods(podGraceMs).catch((error) => log(`pods remain: ${messageOf(error)}`))
    runsOn = await stopRuntime(running, log)
    services.keepFor(runsOn)
  })
}

/** Undefined if another runtime connects the pods. `hasStarted` resolves when the node has started. */
async function policiesOf(
  { policy, name, server, dns }: RealNodeTask,
  hasStarted: Promise<void>,
  log: Log,
): Promise<PolicyAgent | undefined> {
  if (!policy) return undefined
  const { embeddedPolicies } = await import('../../policy/embedded-policy.ts')
  const { url, ca } = server
  return embeddedPolicies({ policy, node: name, server: { url, ca }, dns: dns?.gateway, hasStarted, log })
}

async function startRuntime(
  runtime: EmbeddedRuntime,
  peers: RealNodeTask['peers'],
  admit: (pod: NewPod) => Promise<void>,
  warn: Warn,
  log: Log,
): Promise<RunningRuntime> {
  const { endpoint, root, state, imageRoot, imageSources, registries, docker, name, bridge } = runtime
  if (docker !== undefined) {
    const { startDockerRuntime } = await import('../../../runtime/docker/docker-runtime.ts')
    return startDockerRuntime({ endpoint, address: docker, name, streamPort: 0, log })
  }
  const { startStandaloneRuntime } = await import('../../../runtime/standalone-runtime.ts')
  return startStandaloneRuntime({
    endpoint,
    root,
    state,
    imageFolder: imageRoot,
    imageSources,
    registries,
    network: {
      ...pluginFolders,
      bridge,
      notMasqueraded: peers?.ranges,
      subnetFile: peers?.flannel && subnetFileIn(peers.flannel.folder),
      admit,
      onConflict: warn,
    },
    streamPort: 0,
    log,
  })
}

/** Returns the number of containers that run on. */
async function stopRuntime(runtime: RunningRuntime, log: Log): Promise<number> {
  const count = await runtime.runningContainers().catch(() => 0)
  if (count > 0) log(`${containers(count)} on; the next start with this data directory takes over`)
  await runtime.stop()
  return count
}

function runtimeText({ runtime, configuration }: RealNodeTask, running: RunningRuntime | undefined): string {
  if (!runtime || !running) return `the runtime at ${configuration.containerRuntimeEndpoint}`
  const executor = running.executor.replace(' version', '')
  return runtime.docker === undefined ? `${executor}; images from their registries` : executor
}

const containers = (count: number): string => (count === 1 ? '1 container runs' : `${count} containers run`)

/** Creates the cgroup of all pods. At the end, it is removed if there is no pod. */
function createCgroup(path: string, lifetime: Lifetime): void {
  const cgroups = findCgroups()
  cgroups.create(path)
  lifetime.onEnd(async () => {
    if (cgroups.processes(path).length === 0) await cgroups.remove(path)
  })
}

function kubeletOptions(task: RealNodeTask, log: Log): KubeletOptions {
  const { name, ips, configuration, podCidrs, root, podLogs, server, serving, clientCA } = task
  return {
    server: { ...server, ...rateLimitOf(configuration) },
    configuration,
    root,
    podLogs,
    nodeName: name,
    nodeIps: ips,
    podCidrs,
    nodeLabels: { [nodeTypeLabel]: realNode },
    serving: 'onChange' in serving ? serving : { current: serving, onChange: () => {} },
    clientCA,
    profile: profilePages,
    tlsLimits: tlsLimits(configuration.tlsMinVersion, configuration.tlsCipherSuites),
    log,
  }
}
