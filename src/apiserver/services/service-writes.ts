/**
 * The hook for writes of Services: allocates before validation, and adds IPAddresses and the record of node ports to
 * the transaction.
 */
import type { Service } from '../../api/core/service/index.ts'
import { keepAllocated } from '../../api/core/service/prepare.ts'
import type { WriteHook } from '../registry/write/write-hook.ts'
import { allocate } from './allocate.ts'
import { type Allocations, portsOf } from './allocations.ts'
import { withAddresses } from './ip-addresses.ts'
import type { PortChange, PortRecord } from './port-record/port-record.ts'

const noPorts: ReadonlySet<number> = new Set()

const mayNeedPorts = ({ spec }: Service): boolean => spec?.type === 'NodePort' || spec?.type === 'LoadBalancer'

/** The ports that a Service takes and frees when it changes from `old` to `service`; either may be absent. */
function portChange(service: Service | undefined, old: Service | undefined): PortChange {
  const current = service ? portsOf(service) : []
  const previous = old ? portsOf(old) : []
  return {
    taken: current.filter((port) => !previous.includes(port)),
    freed: previous.filter((port) => !current.includes(port)),
  }
}

/** `now` is the time of objects that are created, in RFC 3339. */
export function serviceWrites(allocations: Allocations, record: PortRecord, now: () => string): WriteHook {
  const families = allocations.ranges.map(({ family }) => family)
  return {
    async begin(object, old, dryRun) {
      const service = object as Service
      const before = old as Service | undefined
      const recorded = mayNeedPorts(service) ? await record.ports() : noPorts
      const stored = await allocations.ready()
      const claim = allocations.claim(stored, recorded, dryRun)
      try {
        keepAllocated(service, before)
        allocate(service, before?.spec ?? (before && {}), claim, families)
      } catch (error) {
        claim.end()
        throw error
      }
      return () => claim.end()
    },
    async commit(key, object, own) {
      // Another server may have written the object that this write replaces.
      const { services, ipAddresses } = await allocations.since(own.conditions[0]?.revision ?? 0)
      const service = object as Service | undefined
      const before = services.objects.get(key)?.parse<Service>()
      const { conditions, operations } = withAddresses(ipAddresses, service, before, now())
      return record.commit(
        { conditions: [...own.conditions, ...conditions], operations: [...own.operations, ...operations] },
        portChange(service, before),
      )
    },
    async refused() {
      await allocations.newest()
    },
  }
}
