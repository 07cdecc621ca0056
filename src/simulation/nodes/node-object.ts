/** A simulated node as an object: what a kubelet registers, and what it tells of itself later. */
import type { Node } from '../../client/kinds.ts'
import { kubernetesVersion, release } from '../../lib/release.ts'
import { fleetLabelValue, nodeLabel, ownerLabel } from '../names.ts'
import { conditionsOf } from './conditions.ts'
import { type NodeShape, type PlannedNode, usualCapacity, usualShape } from './node-shape.ts'

/** What a kubelet of 1.36 declares of itself, as it is set up unless said (KEP-5328). */
const declaredFeatures = [
  'GuaranteedQoSPodCPUResize',
  'InPlacePodLevelResourcesVerticalScaling',
  'RestartAllContainersOnContainerExits',
]

/** The usual features where a node declares these: thousands of nodes share them. */
export const keptFeatures = (features: readonly string[] | undefined): string[] | undefined =>
  declaresAll(features) ? declaredFeatures : undefined

const declaresAll = (features: readonly string[] | undefined): boolean => `${features}` === `${declaredFeatures}`

/** Where the API server reaches a node's kubelet. */
export interface KubeletPlace {
  readonly address: string
  readonly port: number
}

/** The node that is created: not ready before it has a network. */
export function newNode({ name, shape }: PlannedNode, owner: string, place: KubeletPlace, now: number): Node {
  const { labels, annotations, taints, architecture } = shape
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
        [nodeLabel]: fleetLabelValue,
        [ownerLabel]: owner,
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true', ...annotations },
    },
    spec: taints ? { taints: taints.map((taint) => ({ ...taint })) } : {},
    status: { ...statusOf(name, shape, place), conditions: conditionsOf([], undefined, false, now) },
  }
}

/** What the status of a node lacks that somebody else has made, or that ran in another process before. */
export function completeStatus(node: Node, place: KubeletPlace): NonNullable<Node['status']> {
  const { name = '', labels } = node.metadata
  const { capacity = usualCapacity, allocatable } = node.status ?? {}
  const shape = { capacity, allocatable, architecture: labels?.['kubernetes.io/arch'] ?? usualShape.architecture }
  const status = statusOf(name, shape, place)
  // What is right already is not written again.
  const { nodeInfo, daemonEndpoints, declaredFeatures: declared } = node.status ?? {}
  const isSame =
    nodeInfo?.kubeletVersion === status.nodeInfo?.kubeletVersion &&
    daemonEndpoints?.kubeletEndpoint?.Port === place.port &&
    declaresAll(declared)
  return isSame ? {} : status
}

/** What does not change while the node runs. */
function statusOf(
  name: string,
  { capacity, allocatable, architecture }: NodeShape,
  place: KubeletPlace,
): NonNullable<Node['status']> {
  return {
    capacity: { ...capacity },
    allocatable: { ...capacity, ...allocatable },
    ...placeOf(name, place),
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
 * Addresses and port: the name of the host is what API servers try first, so it is where the kubelet listens; the
 * internal address is the node's own, so that it is unlike that of others.
 */
export const placeOf = (
  name: string,
  { address, port }: KubeletPlace,
): Pick<NonNullable<Node['status']>, 'addresses' | 'daemonEndpoints'> => ({
  addresses: [
    { type: 'InternalIP', address: internalAddress(name) },
    { type: 'Hostname', address },
  ],
  daemonEndpoints: { kubeletEndpoint: { Port: port } },
})

const internalBase = 0xac10_0000
const internalSize = 0xf_fff0

/** Of 172.16.0.0/12, by the name: the same each time, and one after the other for nodes that are numbered. */
export function internalAddress(name: string): string {
  const [, group = name, number = '0'] = /^(.*)-(\d{1,7})$/.exec(name) ?? []
  const first = group === 'node' ? 1 : Number.parseInt(hexOf(group, 5), 16)
  const value = internalBase + 1 + ((first + Number(number)) % internalSize)
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')
}

/** So many hexadecimal digits that follow from a text (FNV-1a, again and again). */
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
