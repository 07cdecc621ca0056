/**
 * The hook for writes of Services: allocates before validation, and adds IPAddresses to the transaction.
 */
import type { Service } from '../../api/core/service/index.ts'
import { keepAllocated } from '../../api/core/service/prepare.ts'
import type { WriteHook } from '../registry/write/write-hook.ts'
import { allocate } from './allocate.ts'
import type { Allocations } from './allocations.ts'
import { withAddresses } from './ip-addresses.ts'

export function serviceWrites(allocations: Allocations): WriteHook {
  const families = allocations.ranges.map(({ family }) => family)
  return {
    async begin(object, old, dryRun) {
      const stored = await allocations.ready()
      const service = object as Service
      const before = old as Service | undefined
      const claim = allocations.claim(stored, dryRun)
      try {
        keepAllocated(service, before)
        allocate(service, before?.spec ?? (before && {}), claim, families)
      } catch (error) {
        claim.end()
        throw error
      }
      return () => claim.end()
    },
    async alongside(key, object) {
      const { services, ipAddresses } = await allocations.ready()
      return withAddresses(ipAddresses, object as Service | undefined, services.objects.get(key)?.parse<Service>())
    },
  }
}
