/** Finds the address of a pod, Service or node, for their `proxy` subresources. Only pods and nodes can be reached. */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP, isIPv4 } from 'node:net'
import type { V1Node, V1Pod, V1Service } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { badRequest, notFound, type StatusError } from '../../machinery/status-error.ts'
import {
  type Backend,
  type EndpointAddress,
  type EndpointSources,
  rotateRandomly,
  serviceEndpoints,
  unavailable,
} from '../outgoing/index.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { type BackendName, parseBackendName } from './backend-name.ts'
import { type KubeletOptions, kubeletBackend } from './streaming/kubelet-backend.ts'

export interface Places extends EndpointSources {
  readonly pods: ServedResource
  readonly services: ServedResource
  readonly nodes: ServedResource
  /** How to connect to kubelets. */
  readonly kubelets: KubeletOptions | undefined
  readonly random: () => number
}

/** The places of a cluster; `find` returns a resource by its key. */
export const placesIn = (
  registry: Registry,
  find: (key: string) => ServedResource,
  kubelets?: KubeletOptions,
): Places => ({
  registry,
  pods: find('v1/pods'),
  services: find('v1/services'),
  nodes: find('v1/nodes'),
  endpointSlices: find('discovery.k8s.io/v1/endpointslices'),
  endpoints: find('v1/endpoints'),
  kubelets,
  random: Math.random,
})

export type Locate = (places: Places, namespace: string, name: string) => Promise<Backend>

/** The certificates of pods are not verified, as upstream. */
const unchecked = { rejectUnauthorized: false } as const

const addressNotAllowed = (): StatusError => badRequest('address not allowed')

/** Locates a pod by its address, and its first port unless the name has one. */
export const locatePod: Locate = async (places, namespace, id) => {
  const { scheme, name, port } = nameOf(id, 'pod')
  const pod = await objectOf<Model<V1Pod>>(places, places.pods, namespace, name)
  const first = pod.spec?.containers.find(({ ports }) => ports?.length)?.ports?.[0]?.containerPort
  const host = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? ''
  if (!isProxyable(host)) throw addressNotAllowed()
  return backendAt(scheme, host, port || (first === undefined ? '' : `${first}`))
}

/** Locates a Service by its endpoints: a pod that has the port. */
export const locateService: Locate = async (places, namespace, id) => {
  const { scheme, name, port } = nameOf(id, 'service')
  const portName = /^\d+$/.test(port) ? await namedPort(places, namespace, name, Number(port)) : port
  const subsets = await serviceEndpoints(places, namespace, name)
  if (!subsets) throw notFound({ group: '', name: 'endpoints' }, name)
  if (subsets.length === 0) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  for (const { addresses, ports } of rotateRandomly(subsets, places.random)) {
    const found = ports.find((one) => one.name === portName)
    if (!found) continue
    for (const address of rotateRandomly(addresses, places.random)) {
      if (await isPod(places, namespace, address)) return backendAt(scheme, address.ip, `${found.port}`)
    }
  }
  throw unavailable(`no endpoints available for service ${JSON.stringify(id)}`)
}

/** Locates a node by its address: its kubelet, unless another port is named. */
export const locateNode: Locate = async (places, _namespace, id) => {
  const { scheme, name, port } = nameOf(id, 'node')
  const node = await objectOf<Model<V1Node>>(places, places.nodes, '', name)
  const kubelet = kubeletBackend(node, places.kubelets)
  if (port === '' || port === `${kubelet.port}`) return kubelet
  const address = kubelet.host
  if (!(await addressesOf(address)).every(isProxyable)) throw addressNotAllowed()
  return backendAt(scheme, address, port)
}

/**
 * The addresses of a node's host name, which may resolve to anything, including this machine. Throws 400 if it cannot
 * be resolved.
 */
async function addressesOf(host: string): Promise<readonly string[]> {
  if (isIP(host)) return [host]
  const found = await lookup(host, { all: true }).catch(() => {
    throw badRequest(`lookup ${host}: no such host`)
  })
  return found.map(({ address }) => address)
}

function nameOf(id: string, kind: string): BackendName {
  const parsed = parseBackendName(id)
  if (!parsed) throw badRequest(`invalid ${kind} request ${JSON.stringify(id)}`)
  return parsed
}

async function objectOf<T extends Model<object>>(
  { registry }: Places,
  resource: ServedResource,
  namespace: string,
  name: string,
): Promise<T> {
  const object = await registry.current(resource, resource.key(namespace, name))
  if (!object) throw notFound(resource.groupResource, name)
  return object.parse<T>()
}

async function namedPort(places: Places, namespace: string, name: string, number: number): Promise<string> {
  const service = await objectOf<Model<V1Service>>(places, places.services, namespace, name)
  const found = service.spec?.ports?.find(({ port }) => port === number)
  if (!found) throw unavailable(`no service port ${number} found for service ${JSON.stringify(name)}`)
  return found.name ?? ''
}

/** True if a pod of the namespace has the address: endpoints may contain any address, others are not connected to. */
async function isPod({ registry, pods }: Places, namespace: string, { ip, target }: EndpointAddress): Promise<boolean> {
  if (target?.namespace !== namespace || !target.name) return false
  const pod = (await registry.lookUp(pods, pods.key(namespace, target.name)))?.parse<Model<V1Pod>>()
  return pod?.status?.podIPs?.some((one) => one.ip === ip) ?? pod?.status?.podIP === ip
}

function backendAt(scheme: BackendName['scheme'], host: string, port: string): Backend {
  const number = port === '' ? (scheme === 'https' ? 443 : 80) : Number(port)
  if (!Number.isInteger(number) || number < 1 || number > 65_535)
    throw unavailable(`error trying to reach service: dial tcp: lookup tcp/${port}: unknown port`)
  return { scheme: scheme || 'http', host, port: number, ...(scheme === 'https' && { tls: unchecked }) }
}

/** Addresses of this machine or of one link, multicast, and unspecified ones. */
const special = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 32],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const)
  special.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  special.addSubnet(network, prefix, 'ipv6')

/** Returns true for the address of a host in a network (Go's IsGlobalUnicast). */
const isProxyable = (address: string): boolean =>
  isIP(address) !== 0 && !special.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
