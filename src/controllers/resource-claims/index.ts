/** Controllers of ResourceClaims. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'resourceclaim-controller',
    queue: 'resource_claim',
    aliases: ['resource-claim-controller'],
    account: 'resource-claim-controller',
    make: async (_sources, _flags, registry) => {
      const [{ resourceClaimController }, { ClaimMetrics }] = await Promise.all([
        import('./controller.ts'),
        import('./metrics.ts'),
      ])
      return resourceClaimController(new ClaimMetrics(registry))
    },
  },
  {
    name: 'device-taint-eviction-controller',
    account: 'device-taint-eviction-controller',
    make: async ({ clock }, _flags, registry) => {
      const [{ deviceTaintEviction }, { deviceTaintMetrics }] = await Promise.all([
        import('./device-taints/controller.ts'),
        import('../pods/eviction-metrics.ts'),
      ])
      return deviceTaintEviction(deviceTaintMetrics(registry), () => clock.now())
    },
  },
]
