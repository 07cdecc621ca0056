/** Services in the API server: cluster IPs, node ports, and the Service `kubernetes`. */
import { messageOf } from '../../lib/message-of.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { timestamp, type Writer } from '../registry/write/write-context.ts'
import { Allocations } from './allocations.ts'
import { repairAddresses } from './ip-addresses.ts'
import { advertiseAddress } from './own-service/advertise-address.ts'
import {
  EndpointReconciler,
  type EndpointReconcilerOptions,
  type ReconcilerType,
} from './own-service/endpoint-reconciler.ts'
import {
  endpointAddresses,
  ensureEndpoints,
  ensureKubernetesService,
  type KubernetesService,
} from './own-service/kubernetes-service.ts'
import { PortRecord } from './port-record/port-record.ts'
import { defaultServiceRange, parseAddressRanges } from './ranges/address-range.ts'
import { parsePortRange } from './ranges/port-range.ts'
import { serviceWrites } from './service-writes.ts'

/** As upstream. */
const repairIntervalMs = 3 * 60_000

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
  /** The addresses that are endpoints. Default: `lease`. */
  readonly reconciler?: ReconcilerType
  /** How many servers the cluster has, for the reconciler `master-count`. Default: 1. */
  readonly serverCount?: number
  readonly port: number
  readonly context: Writer
}

export interface ServiceAllocation {
  /**
   * Call this when the server listens: ensures the Service `kubernetes`, creates missing IPAddresses and removes
   * leftover ones. From then on, the record of node ports is repaired every three minutes.
   */
  begin(listening: Listening): Promise<void>
  /** Call this before the server ends: its address leaves the endpoints if other servers share the store. */
  end(): Promise<void>
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
  const nodePorts = parsePortRange(nodePortRange)
  const resource = find('v1/services')
  const allocations = new Allocations({
    services: registry.cacher(resource),
    ipAddresses: registry.cacher(find('networking.k8s.io/v1/ipaddresses')),
    serviceCidrs: registry.cacher(find('networking.k8s.io/v1/servicecidrs')),
    ranges,
    nodePorts,
    random,
    metrics,
  })
  const record = new PortRecord({ store: registry.store, range: nodePorts, stored: () => allocations.ports() })
  const now = (): string => timestamp(registry.clock.now())
  resource.writeHook = serviceWrites(allocations, record, now)
  let repairs: NodeJS.Timeout | undefined
  let reconciler: EndpointReconciler | undefined
  return {
    async begin({ bindAddress, advertiseAddress: given, reconciler: type = 'lease', serverCount, port, context }) {
      const kubernetes = {
        services: resource,
        endpoints: find('v1/endpoints'),
        endpointSlices: find('discovery.k8s.io/v1/endpointslices'),
        serviceCidrs: find('networking.k8s.io/v1/servicecidrs'),
        ranges,
        port,
        context,
      }
      const address = given ?? advertiseAddress(bindAddress, ranges[0]!.family)
      if (address && type !== 'none')
        reconciler = reconcilerOf(kubernetes, { type, count: serverCount ?? 1, address, log })
      try {
        await repairAddresses(allocations, registry.store, now())
        await record.repair()
        await ensureKubernetesService(kubernetes)
      } catch (error) {
        // The server works even if the first address of the range is in use by another Service.
        log(`the Service default/kubernetes is not as it should be: ${messageOf(error)}`)
      }
      repairs = repairOften(allocations, record, log)
      await reconciler?.begin()
    },
    async end() {
      clearInterval(repairs)
      await reconciler?.end()
    },
  }
}

/** Repairs the record of node ports until the timer is cleared. */
const repairOften = (allocations: Allocations, record: PortRecord, log: (line: string) => void): NodeJS.Timeout =>
  setInterval(() => {
    allocations
      .ready()
      .then(() => record.repair())
      .catch((error) => log(`cannot repair the record of node ports, which is retried: ${messageOf(error)}`))
  }, repairIntervalMs).unref()

/** The writer of the endpoints of the Service `kubernetes`. */
const reconcilerOf = (
  kubernetes: KubernetesService,
  options: Pick<EndpointReconcilerOptions, 'type' | 'count' | 'address' | 'log'>,
): EndpointReconciler =>
  new EndpointReconciler({
    ...options,
    store: kubernetes.context.registry.store,
    current: () => endpointAddresses(kubernetes),
    write: (addresses) => ensureEndpoints(kubernetes, addresses),
  })
