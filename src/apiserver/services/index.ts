/** Services in the API server: cluster IPs, node ports, and the Service `kubernetes`. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { Writer } from '../registry/write/write-context.ts'
import { Allocations } from './allocations.ts'
import { repairAddresses } from './ip-addresses.ts'
import { advertiseAddress } from './own-service/advertise-address.ts'
import { ensureKubernetesService } from './own-service/kubernetes-service.ts'
import { defaultServiceRange, parseAddressRanges } from './ranges/address-range.ts'
import { parsePortRange } from './ranges/port-range.ts'
import { serviceWrites } from './service-writes.ts'

/** The default of kube-apiserver. */
export const defaultNodePortRange = '30000-32767'

export interface ServiceAllocationOptions {
  readonly registry: Registry
  /** Finds a resource by its key: `v1/services`. */
  readonly find: (key: string) => ServedResource
  /** `--service-cluster-ip-range`: one range, or two separated by a comma. */
  readonly clusterIpRange?: string
  /** `--service-node-port-range`. */
  readonly nodePortRange?: string
  readonly random?: () => number
  readonly metrics?: MetricsRegistry
  readonly log: (line: string) => void
}

/** Addresses of the listening server. */
export interface Listening {
  readonly bindAddress: string
  /** `--advertise-address`, if it is given. */
  readonly advertiseAddress?: string
  /** True if this server does not write the endpoints. */
  readonly withoutEndpoints?: boolean
  readonly port: number
  readonly context: Writer
}

export interface ServiceAllocation {
  /**
   * Call this when the server listens: ensures the Service `kubernetes`, creates missing IPAddresses and removes
   * leftover ones.
   */
  begin(listening: Listening): Promise<void>
}

/** Installs the allocation for writes of Services. Throws an Error for an invalid range. */
export function serviceAllocation({
  registry,
  find,
  clusterIpRange = defaultServiceRange,
  nodePortRange = defaultNodePortRange,
  random = Math.random,
  metrics,
  log,
}: ServiceAllocationOptions): ServiceAllocation {
  const ranges = parseAddressRanges(clusterIpRange)
  const resource = find('v1/services')
  const services = registry.cacher(resource)
  const ipAddresses = registry.cacher(find('networking.k8s.io/v1/ipaddresses'))
  const serviceCidrs = registry.cacher(find('networking.k8s.io/v1/servicecidrs'))
  const allocations = new Allocations({
    services,
    ipAddresses,
    serviceCidrs,
    ranges,
    nodePorts: parsePortRange(nodePortRange),
    random,
    metrics,
  })
  resource.writeHook = serviceWrites(allocations)
  return {
    async begin({ bindAddress, advertiseAddress: given, withoutEndpoints, port, context }) {
      const address = withoutEndpoints ? undefined : (given ?? advertiseAddress(bindAddress, ranges[0]!.family))
      const resources = {
        services: resource,
        endpoints: find('v1/endpoints'),
        endpointSlices: find('discovery.k8s.io/v1/endpointslices'),
        serviceCidrs: find('networking.k8s.io/v1/servicecidrs'),
      }
      try {
        await repairAddresses(allocations, registry.store)
        await ensureKubernetesService({ ...resources, ranges, address, port, context })
      } catch (error) {
        // The server works even if the first address of the range is in use by another Service.
        log(`the Service default/kubernetes is not as it should be: ${error instanceof Error ? error.message : error}`)
      }
    },
  }
}
