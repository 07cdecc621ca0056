/** The configuration that the plug-in `flannel` gives to the plug-in that connects pods, as upstream's does. */
import type { SubnetFile } from '../../flannel/subnet-file/subnet-file.ts'
import type { PluginConfig } from '../plugin/plugin-config.ts'
import { errorCodes, PluginError } from '../plugin/plugin-error.ts'

/** The plug-in's own configuration, beside what all plug-ins have. */
export interface FlannelPluginConfig extends PluginConfig {
  /** Default: /run/flannel/subnet.env. */
  readonly subnetFile?: string
  /** Where configurations of connected pods are stored. Default: /var/lib/cni/flannel. */
  readonly dataDir?: string
  /** Fields for the other plug-in; `type` chooses it. Default: bridge. */
  readonly delegate?: Readonly<Record<string, unknown>>
}

/** The configuration of the other plug-in. */
export interface DelegateConfig extends PluginConfig {
  readonly type: string
}

/**
 * The configuration for this node's subnet.
 * @throws a `PluginError` for a delegate with fields that flannel sets.
 */
export function delegateConfig(config: FlannelPluginConfig, subnets: SubnetFile): DelegateConfig {
  const { delegate = {}, cniVersion, name, runtimeConfig } = config
  const { type = 'bridge' } = delegate
  if (typeof type !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(type))
    throw invalid("'delegate' dictionary, if present, must have (string) 'type' field, such as bridge")
  for (const field of ['name', 'ipam'])
    if (Object.hasOwn(delegate, field))
      throw invalid(`'delegate' dictionary must not have '${field}' field, it'll be set by flannel`)
  return {
    ipMasq: !subnets.masquerade,
    mtu: subnets.mtu,
    ...(type === 'bridge' && { isGateway: true }),
    ...delegate,
    // With masquerade by the bridge, pods of other nodes still see the pod's own address.
    ...(isOwn(type) && { notMasqueraded: networksOf(subnets) }),
    type,
    ...(cniVersion !== undefined && { cniVersion }),
    ...(name !== undefined && { name }),
    ...(runtimeConfig && { runtimeConfig }),
    ipam: ipamOf(config, subnets),
  }
}

/** True for the plug-ins that this program is itself. */
export const isOwn = (type: string): boolean => type === 'bridge' || type === 't8s'

const networksOf = ({ network, ipv6Network }: SubnetFile): string[] =>
  [network, ipv6Network].filter((range) => range !== undefined)

function ipamOf({ ipam = {} }: FlannelPluginConfig, subnets: SubnetFile): NonNullable<PluginConfig['ipam']> {
  const ranges = [subnets.subnet, subnets.ipv6Subnet].flatMap((subnet) => (subnet === undefined ? [] : [[{ subnet }]]))
  const routes = [...(ipam.routes ?? []), ...networksOf(subnets).map((dst) => ({ dst }))]
  return { type: 'host-local', ...ipam, ranges, routes }
}

const invalid = (message: string): PluginError => new PluginError(errorCodes.invalidConfiguration, message)
