/** The network's configuration, `net-conf.json`, with upstream flannel's fields and defaults. */
import { addressAt, parseCidr } from '../../../lib/cidr.ts'
import { messageOf } from '../../../lib/message-of.ts'

/** The backend's part: `Type` and the fields of that type, as they were written. */
export type BackendSettings = Readonly<Record<string, unknown>>

export interface NetworkConfig {
  readonly enableIPv4: boolean
  readonly enableIPv6: boolean
  /** True: rules are in nftables, not in iptables. */
  readonly enableNFTables: boolean
  /** `10.244.0.0/16`: the range of all nodes' subnets; undefined if IPv4 is off. */
  readonly network: string | undefined
  readonly ipv6Network: string | undefined
  /** How a subnet manager without `spec.podCIDR` divides the ranges; `subnetRange` has the defaults. */
  readonly subnets: SubnetSettings
  readonly ipv6Subnets: SubnetSettings
  /** In lower case: `vxlan`. */
  readonly backendType: string
  readonly backend: BackendSettings
}

export interface SubnetSettings {
  /** The prefix of a node's subnet. */
  readonly length: number | undefined
  /** The first subnet that is given to a node. */
  readonly min: string | undefined
  readonly max: string | undefined
}

/** Upstream's default for a configuration without `Backend`. */
const defaultBackend = 'udp'

/**
 * Parses the text of `net-conf.json`. Names of fields have any case, as in Go.
 * @throws an Error that names the field that is wrong.
 * @example parseNetworkConfig('{ "Network": "10.244.0.0/16", "Backend": { "Type": "vxlan" } }')
 */
export function parseNetworkConfig(text: string): NetworkConfig {
  const fields = fieldsOf(parseJson(text), 'the network configuration')
  const enableIPv4 = booleanOf(fields, 'EnableIPv4') ?? true
  const enableIPv6 = booleanOf(fields, 'EnableIPv6') ?? false
  if (!enableIPv4 && !enableIPv6)
    throw new Error('EnableIPv4 and EnableIPv6 are both false: enable at least one of them')
  const given = fieldOf(fields, 'Backend')
  const backend = given === undefined ? {} : fieldsOf(given, 'Backend')
  return {
    enableIPv4,
    enableIPv6,
    enableNFTables: booleanOf(fields, 'EnableNFTables') ?? false,
    network: enableIPv4 ? rangeOf(fields, 'Network', 4) : undefined,
    ipv6Network: enableIPv6 ? rangeOf(fields, 'IPv6Network', 6) : undefined,
    subnets: subnetSettings(fields, ''),
    ipv6Subnets: subnetSettings(fields, 'IPv6'),
    backendType: (textOf(backend, 'Type') ?? defaultBackend).toLowerCase(),
    backend,
  }
}

/** The value of a field whose name has any case; undefined for a missing one and null. */
export function fieldOf(fields: BackendSettings, name: string): unknown {
  const wanted = name.toLowerCase()
  const key = Object.hasOwn(fields, name) ? name : Object.keys(fields).find((one) => one.toLowerCase() === wanted)
  return key === undefined ? undefined : (fields[key] ?? undefined)
}

/** @throws if the value is not a text. */
export function textOf(fields: BackendSettings, name: string): string | undefined {
  const value = fieldOf(fields, name)
  if (value === undefined || typeof value === 'string') return value
  throw new Error(`${name} is ${JSON.stringify(value)}: it must be a text`)
}

/** @throws if the value is not true or false. */
export function booleanOf(fields: BackendSettings, name: string): boolean | undefined {
  const value = fieldOf(fields, name)
  if (value === undefined || typeof value === 'boolean') return value
  throw new Error(`${name} is ${JSON.stringify(value)}: it must be true or false`)
}

/** @throws if the value is not a whole number from `min` to `max`. */
export function integerOf(fields: BackendSettings, name: string, min: number, max: number): number | undefined {
  const value = fieldOf(fields, name)
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  throw new Error(`${name} is ${JSON.stringify(value)}: it must be a whole number from ${min} to ${max}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`the network configuration is not JSON: ${messageOf(error)}`)
  }
}

function fieldsOf(value: unknown, what: string): BackendSettings {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${what} must be an object, such as { "Network": "10.244.0.0/16" }`)
  return Object.fromEntries(Object.entries(value))
}

/** Clears bits after the prefix, as upstream. */
function rangeOf(fields: BackendSettings, name: string, family: 4 | 6): string {
  const text = textOf(fields, name)
  const example = family === 4 ? '10.244.0.0/16' : 'fd00:10:244::/56'
  if (text === undefined) throw new Error(`please define a correct ${name} parameter in the flannel config: ${example}`)
  const cidr = parseCidr(text)
  if (cidr?.family !== family || cidr.prefix === 0)
    throw new Error(`${name} is ${JSON.stringify(text)}: it must be a range such as ${example}`)
  return `${addressAt(cidr, 0)}/${cidr.prefix}`
}

function subnetSettings(fields: BackendSettings, prefix: '' | 'IPv6'): SubnetSettings {
  return {
    length: integerOf(fields, `${prefix}SubnetLen`, 0, 128) || undefined,
    min: textOf(fields, `${prefix}SubnetMin`),
    max: textOf(fields, `${prefix}SubnetMax`),
  }
}
