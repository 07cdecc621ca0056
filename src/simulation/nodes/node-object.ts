/** The Node object of a simulated node, as a kubelet registers and updates it. */
import type { Node } from '../../client/kinds.ts'
import { kubernetesVersion, release } from '../../lib/release.ts'
import { nodeTypeLabel, simulatedNode } from '../../node/status/node-type.ts'
import { fleetLabelValue, nodeLabel, ownerLabel } from '../names.ts'
import { conditionsOf } from './failures.ts'
import { defaultCapacity, defaultShape, type NodeShape, type PlannedNode } from './node-shape.ts'

/** The features that a kubelet of 1.36 declares with its default configuration (KEP-5328). */
const declaredFeatures = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
]

/** Returns the shared array if a node declares exactly these features, to save memory with thousands of nodes. */
export const sharedFeatures = (features: readonly string[] | undefined): string[] | undefined =>
  declaresAll(features) ? declaredFeatures : undefined

const declaresAll = (features: readonly string[] | undefined): boolean => `${features}` === `${declaredFeatures}`

/** The address of a node's kubelet for the API server. */
export interface KubeletEndpoint {
  readonly address: string
  readonly port: number
}

/** The node to create. It is not ready until it has a network. */
export function newNode({ name, shape }: PlannedNode, owner: string, place: KubeletEndpoint, now: number): Node {
  const { labels, annotations, taints = [], architecture } = shape
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': architecture,
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': architecture,
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...labels,
        [nodeTypeLabel]: simulatedNode,
        [nodeLabel]: fleetLabelValue,
        [ownerLabel]: owner,
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true', ...annotations },
    },
    spec: taints.length > 0 ? { taints: taints.map((taint) => ({ ...taint })) } : {},
    status: { ...statusOf(name, shape, place), conditions: conditionsOf([], undefined, false, now) },
  }
}

/** The missing parts of the status of a node that others created, or that ran in another process before. */
export function completeStatus(node: Node, place: KubeletEndpoint): NonNullable<Node['status']> {
  const { name = '', labels } = node.metadata
  const { capacity = defaultCapacity, allocatable } = node.status ?? {}
  const shape = { capacity, allocatable, architecture: labels?.['kubernetes.io/arch'] ?? defaultShape.architecture }
  const status = statusOf(name, shape, place)
  // A complete status is not written.
  const { nodeInfo, daemonEndpoints, declaredFeatures: declared } = node.status ?? {}
  const isSame =
    nodeInfo?.kubeletVersion === status.nodeInfo?.kubeletVersion &&
    daemonEndpoints?.kubeletEndpoint?.Port === place.port &&
    declaresAll(declared)
  return isSame ? {} : status
}

/** The constant part of a node's status. */
function statusOf(
  name: string,
  { capacity, allocatable, architecture }: NodeShape,
  place: KubeletEndpoint,
): NonNullable<Node['status']> {
  return {
    capacity: { ...capacity },
    allocatable: { ...capacity, ...allocatable },
    ...endpointStatus(name, place),
    declaredFeatures: [...declaredFeatures],
    nodeInfo: {
      machineID: hexOf(name, 32),
      systemUUID: uuidOf(name),
      bootID: uuidOf(`boot of ${name}`),
      kernelVersion: '6.12.0-simulated',
      osImage: 'Simulated Linux',
      containerRuntimeVersion: `simulated://${release}`,
      kubeletVersion: kubernetesVersion(release),
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture,
    },
  }
}

/**
 * Addresses and port. API servers try the hostname first, so it is the address on which the kubelet listens. The
 * internal address is unique per node.
 */
export const endpointStatus = (
  name: string,
  { address, port }: KubeletEndpoint,
): Pick<NonNullable<Node['status']>, 'addresses' | 'daemonEndpoints'> => ({
  addresses: [
    { type: 'InternalIP', address: internalAddress(name) },
    { type: 'Hostname', address },
  ],
  daemonEndpoints: { kubeletEndpoint: { Port: port } },
})

const internalBase = 0xac10_0000
const internalSize = 0xf_fff0

/** An address in 172.16.0.0/12, derived from the name; consecutive for numbered nodes. */
export function internalAddress(name: string): string {
  const [, group = name, number = '0'] = /^(.*)-(\d{1,7})$/.exec(name) ?? []
  const first = group === 'node' ? 1 : Number.parseInt(hexOf(group, 5), 16)
  const value = internalBase + 1 + ((first + Number(number)) % internalSize)
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')
}

/** Hexadecimal digits derived from a text (repeated FNV-1a). */
export function hexOf(text: string, digits: number): string {
  let hash = 0x811c9dc5
  let hex = ''
  while (hex.length < digits) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ hex.length, 0x01000193)
    hex += (hash >>> 0).toString(16).padStart(8, '0')
  }
  return hex.slice(0, digits)
}

function uuidOf(text: string): string {
  const hex = hexOf(text, 32)
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join('-')
}
