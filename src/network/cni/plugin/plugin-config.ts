/** The configuration that a container runtime writes to the plug-in's standard input. */
import { join } from 'node:path'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { type AddressRange, addressRange, type RangeOptions } from '../../ipam/address-range.ts'
import type { HostPort } from '../attachment.ts'
import { recordsDirectory } from '../attachment-records.ts'
import type { PodNetworkOptions } from '../pod-network.ts'
import { errorCodes, PluginError } from './plugin-error.ts'

/** Versions of the specification, oldest first. */
export const supportedVersions = ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const

export interface PluginConfig {
  readonly cniVersion?: string
  readonly name?: string
  /** `loopback`, `flannel`, or the name by which the plug-in is installed. */
  readonly type?: string
  readonly bridge?: string
  readonly mtu?: number
  readonly ipMasq?: boolean
  readonly hairpinMode?: boolean
  /** Gives pods a default route by the bridge, beside the routes that are listed. */
  readonly isDefaultGateway?: boolean
  /** Destinations that see the addresses of pods, beside the ranges. */
  readonly notMasqueraded?: readonly string[]
  readonly ipam?: {
    readonly type?: string
    readonly subnet?: string
    readonly rangeStart?: string
    readonly rangeEnd?: string
    readonly gateway?: string
    readonly ranges?: readonly (readonly RangeOptions[])[]
    readonly routes?: readonly { readonly dst: string }[]
    readonly dataDir?: string
  }
  readonly runtimeConfig?: {
    readonly portMappings?: readonly {
      readonly hostPort: number
      readonly containerPort: number
      readonly protocol?: string
      readonly hostIP?: string
    }[]
    readonly ips?: readonly string[]
    readonly ipRanges?: readonly (readonly RangeOptions[])[]
  }
  readonly prevResult?: object
  readonly 'cni.dev/valid-attachments'?: readonly { readonly containerID: string; readonly ifname: string }[]
}

const networksDirectory = '/var/lib/cni/networks'

/** @throws a `PluginError` for a text that is not JSON, or whose version is not supported. */
export function parseConfig(text: string): PluginConfig {
  let config: PluginConfig
  try {
    config = JSON.parse(text) as PluginConfig
  } catch (error) {
    const { message } = error as Error
    throw new PluginError(errorCodes.invalidJson, `the configuration on standard input is not JSON: ${message}`)
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new PluginError(errorCodes.invalidJson, 'the configuration on standard input is not an object')
  const { cniVersion = '0.3.0' } = config
  if (!(supportedVersions as readonly string[]).includes(cniVersion))
    throw new PluginError(
      errorCodes.incompatibleVersion,
      `cniVersion ${JSON.stringify(cniVersion)} is not supported: use one of ${supportedVersions.join(', ')}`,
    )
  return config
}

/** @throws a `PluginError` which names the field that is missing or wrong. */
export function networkOptions(calls: SystemCalls, config: PluginConfig): PodNetworkOptions {
  const { name = '', ipam = {}, bridge = 'cni0', mtu, ipMasq = false, hairpinMode = false } = config
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name))
    throw invalid(`name ${JSON.stringify(name)} must consist of letters, digits, "_", "." and "-"`)
  if (ipam.type !== undefined && ipam.type !== 'host-local')
    throw invalid(`ipam.type ${JSON.stringify(ipam.type)} is not supported: leave it out, or use host-local`)
  const { dataDir = networksDirectory, routes } = ipam
  return {
    calls,
    name,
    bridge,
    mtu: mtu === undefined || mtu === 0 ? undefined : mtu,
    hairpin: hairpinMode,
    masquerade: ipMasq,
    notMasqueraded: config.notMasqueraded ?? [],
    rangeSets: rangeSetsOf(config),
    // As host-local does, a pod gets the routes that are listed.
    routes: [...(routes ?? []).map(({ dst }) => dst), ...(config.isDefaultGateway ? defaultRoutes(routes) : [])],
    addressDirectory: join(dataDir, name),
    recordDirectory: recordsDirectory,
  }
}

/** Those that are not listed; a family that the pod has no address of is left out later. */
const defaultRoutes = (routes: readonly { readonly dst: string }[] = []): string[] =>
  ['0.0.0.0/0', '::/0'].filter((everything) => !routes.some(({ dst }) => dst === everything))

function rangeSetsOf({ ipam = {}, runtimeConfig = {} }: PluginConfig): AddressRange[][] {
  const { subnet, rangeStart, rangeEnd, gateway, ranges = [] } = ipam
  const single = subnet === undefined ? [] : [[withoutUndefined({ subnet, rangeStart, rangeEnd, gateway })]]
  const sets = [...single, ...ranges, ...(runtimeConfig.ipRanges ?? [])]
  if (sets.length === 0) throw invalid('ipam.ranges is empty: give a subnet, such as [[{ "subnet": "10.88.0.0/16" }]]')
  try {
    return sets.map((set) => set.map(addressRange))
  } catch (error) {
    throw invalid(`ipam: ${(error as Error).message}`)
  }
}

function withoutUndefined(range: { readonly [K in keyof RangeOptions]: RangeOptions[K] | undefined }): RangeOptions {
  return Object.fromEntries(Object.entries(range).filter(([, value]) => value !== undefined)) as unknown as RangeOptions
}

/** containerd before 1.7 writes `HostPort`; plug-ins in Go accept all cases. */
const withLowerCase = <Mapping extends object>(mapping: Mapping): Mapping =>
  Object.fromEntries(
    Object.entries(mapping).map(([name, value]) => [`${name[0]?.toLowerCase()}${name.slice(1)}`, value]),
  ) as Mapping

/** Host ports of the pod; a mapping without a host port is not opened. */
export function hostPortsOf({ runtimeConfig = {} }: PluginConfig): HostPort[] {
  return (runtimeConfig.portMappings ?? [])
    .map(withLowerCase)
    .filter(({ hostPort }) => hostPort > 0)
    .map(({ hostPort, containerPort, protocol = 'tcp', hostIP }) => {
      const name = protocol.toLowerCase()
      if (name !== 'tcp' && name !== 'udp' && name !== 'sctp')
        throw invalid(`runtimeConfig.portMappings: protocol ${JSON.stringify(protocol)} is not tcp, udp or sctp`)
      return { hostPort, containerPort, protocol: name, ...(hostIP ? { hostIP } : {}) }
    })
}

/** `10.88.0.5` of `10.88.0.5/16`. */
export const requestedAddressesOf = ({ runtimeConfig = {} }: PluginConfig): string[] =>
  (runtimeConfig.ips ?? []).map((address) => address.split('/')[0]!)

const invalid = (message: string): PluginError => new PluginError(errorCodes.invalidConfiguration, message)
