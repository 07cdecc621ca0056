/** Services in the API server: cluster IPs, node ports, and the Service of the server itself. */
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

/** kube-apiserver's own. */
export const defaultNodePortRange = '30000-32767'

export interface ServiceAllocationOptions {
  readonly registry: Registry
  /** Finds a resource by its key: `v1/services`. */
  readonly find: (key: string) => ServedResource
  /** As `--service-cluster-ip-range`: one range, or two with a comma between them. */
  readonly clusterIpRange?: string
  /** As `--service-node-port-range`. */
  readonly nodePortRange?: string
  readonly random?: () => number
  readonly metrics?: MetricsRegistry
  readonly log: (line: string) => void
}

/** Where the server listens. */
export interface Listening {
  readonly bindAddress: string
  /** `--advertise-address`, if it is given. */
  readonly advertiseAddress?: string
  /** Whether somebody else sees to the endpoints. */
  readonly withoutEndpoints?: boolean
  readonly port: number
  readonly context: Writer
}

export interface ServiceAllocation {
  /**
   * To be called when the server listens: sees to the Service `kubernetes` and to IPAddresses that are missing or left
   * over.
   */
  begin(listening: Listening): Promise<void>
}

/** From now on Services get what they need when they are written. Throws an Error for a bad range. */
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
        // A cluster whose first address somebody else holds serves all the same.
        log(`the Service default/kubernetes is not as it should be: ${error instanceof Error ? error.message : error}`)
      }
    },
  }
}
