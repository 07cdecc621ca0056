/** Checks that this machine can be a node, before anything of the cluster starts, and settles how. */
import { isIPv4 } from 'node:net'
import { hostname } from 'node:os'
import type { KubeletConfiguration } from '../../../kubelet/configuration/index.ts'
import type { WrittenConfiguration } from '../../../kubelet/configuration/shape.ts'
import { machineAddresses } from '../../../kubelet/registration/machine.ts'
import { reasonOf } from '../../../lib/explained-error.ts'
import { isInUserNamespace } from '../../../lib/linux/user-namespace.ts'
import type { PortMapping } from '../../../network/ports/port-mapping.ts'
import { findCgroups } from '../../../node/cgroups/tree/find-cgroups.ts'
import { checkHost } from '../../kubelet/machine-checks.ts'
import type { PolicyMode } from '../../policy/policy-mode.ts'
import type { RealNode } from '../index.ts'
import { type EmbeddedRuntime, embeddedRuntime } from '../settings/embedded-runtime.ts'
import { nodeConfiguration } from '../settings/node-configuration.ts'
import type { ProxyChoice } from '../settings/proxy-choice.ts'
import { checkPorts, withFreePorts } from './kubelet-ports.ts'
import { type Obstacle, ObstacleError } from './obstacle-error.ts'
import { embeddedObstacle, type MachineFacts, machineObstacle, thisMachine } from './obstacles.ts'

/** A real node whose machine has been checked. */
export interface CheckedNode {
  readonly name: string
  readonly ips: readonly string[]
  /** The IPv6 address of a machine with both families, if none was given; only for clusters of both. */
  readonly otherIp: string | undefined
  readonly configuration: KubeletConfiguration
  /** The runtime that the cluster starts; undefined if there is another one. */
  readonly runtime: EmbeddedRuntime | undefined
  readonly proxyMode: ProxyChoice | undefined
  readonly networkPolicyMode: PolicyMode | undefined
  readonly networkBackend: string | undefined
  readonly ports: readonly PortMapping[]
  /** The folder of the logs of pods. Default: in the data directory. */
  readonly podLogs: string | undefined
}

/**
 * Resolves with the node's settings. Its files are in `folder`; `cluster` has the fields of the cluster's ConfigMap.
 * Rejects with an ObstacleError for what is missing on this machine, and with another ExplainedError for settings that
 * do not fit. Logs a missing network of pods, since a pod of the node may install it.
 */
export async function checkRealNode(
  node: RealNode,
  folder: string,
  log: (line: string) => void,
  machine: MachineFacts = thisMachine(),
  cluster: WrittenConfiguration = {},
): Promise<CheckedNode> {
  checkFor(machineObstacle(machine))
  const { configuration, fields, notices } = nodeConfiguration(node, cluster)
  checkHost(configuration)
  for (const notice of notices) log(notice)
  const settled = await withRuntime(node, folder, { configuration, fields, machine, log })
  return {
    ...settled,
    name: node.name ?? hostname().trim().toLowerCase(),
    ...addressesOf(node),
    proxyMode: node.proxyMode,
    networkPolicyMode: node.networkPolicyMode,
    networkBackend: node.networkBackend,
    ports: node.ports ?? [],
    podLogs: fields.has('podLogsDir') ? configuration.podLogsDir : undefined,
  }
}

function addressesOf({ ips }: RealNode): Pick<CheckedNode, 'ips' | 'otherIp'> {
  if (ips) return { ips, otherIp: undefined }
  // IPv4 is first.
  const [first = '127.0.0.1', ...others] = machineAddresses()
  const otherIp = isIPv4(first) ? others.find((address) => !isIPv4(address)) : undefined
  return { ips: [first], otherIp }
}

type Runtime = Pick<CheckedNode, 'runtime' | 'configuration'>

interface Settings {
  readonly configuration: KubeletConfiguration
  /** The names of the fields that the user has set. */
  readonly fields: ReadonlySet<string>
  readonly machine: MachineFacts
  readonly log: (line: string) => void
}

async function withRuntime(node: RealNode, folder: string, settings: Settings): Promise<Runtime> {
  const { configuration, fields, log } = settings
  const stated = fields.has('containerRuntimeEndpoint') ? configuration.containerRuntimeEndpoint : undefined
  const given = node.docker === undefined ? (node.containerRuntimeEndpoint ?? stated) : undefined
  if (node.docker === undefined && given === undefined)
    return withOwnRuntime(
      embeddedRuntime(folder, { imageSources: node.imageSources, registries: node.registries }),
      settings,
    )
  const { checkDocker, checkRuntime, runtimeEndpoint } = await import('./other-runtime.ts')
  if (given !== undefined) {
    const containerRuntimeEndpoint = runtimeEndpoint(given)
    await checkRuntime(containerRuntimeEndpoint, log)
    await checkPorts(configuration)
    return { runtime: undefined, configuration: { ...configuration, containerRuntimeEndpoint } }
  }
  const runtime = embeddedRuntime(folder, { docker: await checkDocker(node) })
  await checkPorts(configuration)
  return { runtime, configuration: { ...configuration, containerRuntimeEndpoint: runtime.endpoint } }
}

async function withOwnRuntime(
  runtime: EmbeddedRuntime,
  { configuration, fields, machine }: Settings,
): Promise<Runtime> {
  checkFor(embeddedObstacle(machine, runtime))
  const wantsCgroup = configuration.cgroupsPerQOS && !fields.has('cgroupRoot')
  const obstacle = wantsCgroup ? await cgroupObstacle(runtime.cgroup) : undefined
  // Users may have no cgroups: pods run without limits then.
  if (!isInUserNamespace()) checkFor(obstacle)
  const own = {
    ...configuration,
    containerRuntimeEndpoint: runtime.endpoint,
    cgroupRoot: wantsCgroup && !obstacle ? runtime.cgroup : configuration.cgroupRoot,
  }
  return { runtime, configuration: await withFreePorts(own, fields) }
}

function checkFor(obstacle: Obstacle | undefined): void {
  if (obstacle) throw new ObstacleError(obstacle)
}

/** Tries to create a cgroup. Returns the reason why that is not possible. */
async function cgroupObstacle(path: string): Promise<Obstacle | undefined> {
  try {
    const cgroups = findCgroups()
    if (cgroups.missing(path).length === 0) return undefined
    cgroups.create(path)
    await cgroups.remove(path)
    return undefined
  } catch (error) {
    return { reason: `cgroups cannot be created (${reasonOf(error)})`, remedy: 'mount /sys/fs/cgroup writable' }
  }
}
