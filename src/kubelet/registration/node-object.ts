/** The Node object of this machine, as it is registered and reported. */
import type { RuntimeHandler } from '#protobuf/cri-runtime_pb.js'
import type { Node } from '../../client/kinds.ts'
import { kubernetesVersion, release } from '../../lib/release.ts'
import { subtractQuantities } from '../../machinery/values/quantity.ts'
import type { NodeCondition } from '../../node/status/conditions.ts'
import type { Machine } from './machine.ts'

type NodeStatus = NonNullable<Node['status']>
type Amounts = Record<string, string>

export interface NodeSettings {
  readonly name: string
  /** Labels and taints that the node is registered with. */
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
  readonly maxPods: number
  /** The ranges of pods that the node is registered with. */
  readonly podCidrs?: readonly string[]
  /** The node's ID at its cloud provider. */
  readonly providerId?: string
  /** Amounts not for pods: `--kube-reserved`, `--system-reserved` and the hard eviction thresholds, added up. */
  readonly reserved: Readonly<Amounts>
  readonly nodeIps: readonly string[]
  readonly port: number
}

/** Facts that the runtime reports about itself. */
export interface RuntimeFacts {
  /** `containerd://1.6.20`. */
  readonly version: string
  readonly handlers: readonly RuntimeHandler[]
  /** True if the runtime knows policies for supplemental groups (KEP-3619). */
  readonly hasGroupsPolicy: boolean
  readonly images: NonNullable<NodeStatus['images']>
}

/** Features of this kubelet that pods may need, in the order of their names (KEP-5328). */
const declaredFeatures = [
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
]

export function newNode(machine: Machine, settings: NodeSettings, status: NodeStatus): Node {
  const { name, labels, taints, podCidrs = [], providerId } = settings
  const own = {
    'beta.kubernetes.io/arch': machine.architecture,
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': machine.architecture,
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
  }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { ...own, ...labels },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {
      ...(taints.length > 0 && { taints: taints.map((taint) => ({ ...taint })) }),
      ...(podCidrs.length > 0 && { podCIDR: podCidrs[0]!, podCIDRs: [...podCidrs] }),
      ...(providerId && { providerID: providerId }),
    },
    status,
  }
}

export function nodeStatus(
  machine: Machine,
  runtime: RuntimeFacts,
  settings: NodeSettings,
  conditions: NodeCondition[],
): NodeStatus {
  const capacity = capacityOf(machine, settings.maxPods)
  return {
    capacity,
    allocatable: allocatableOf(capacity, settings.reserved),
    conditions,
    addresses: [
      ...settings.nodeIps.map((address) => ({ type: 'InternalIP', address })),
      { type: 'Hostname', address: settings.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: settings.port } },
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: runtime.version,
      kubeletVersion: kubernetesVersion(release),
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: machine.architecture,
      ...(machine.swap > 0n && { swap: { capacity: Number(machine.swap) } }),
    },
    images: runtime.images,
    declaredFeatures,
    features: { supplementalGroupsPolicy: runtime.hasGroupsPolicy },
    ...(runtime.handlers.length > 0 && {
      runtimeHandlers: runtime.handlers.map(({ name, features }) => ({
        name,
        features: {
          recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
          userNamespaces: features?.userNamespaces ?? false,
        },
      })),
    }),
  }
}

/** The resources of a machine that a node reports. */
export function capacityOf({ cpus, memory, disk, hugePages }: Machine, maxPods: number): Amounts {
  return {
    cpu: String(cpus),
    'ephemeral-storage': `${disk / 1024n}Ki`,
    ...Object.fromEntries([...hugePages].map(([size, bytes]) => [`hugepages-${size}`, String(bytes)])),
    memory: `${memory / 1024n}Ki`,
    pods: String(maxPods),
  }
}

/** The capacity without what is reserved. Storage is given in bytes, as upstream does. */
function allocatableOf(capacity: Amounts, reserved: Readonly<Amounts>): Amounts {
  const left = Object.entries(capacity).map(([name, amount]) => [
    name,
    reserved[name] === undefined ? amount : subtractQuantities(amount, reserved[name]),
  ])
  return Object.fromEntries(left)
}
