/** Controllers of Endpoints and EndpointSlices. */
import { ExplainedError } from '../../lib/explained-error.ts'
import type { ControllerDescriptor } from '../descriptor.ts'
import { type ControllerFlag, concurrencyFlag, type FlagValues } from '../flags.ts'

const batchFlag = (name: string, of: string): ControllerFlag => ({
  name,
  type: 'duration',
  help: `time for which changes of ${of} are batched`,
  default: '0s',
})

const maxFlag = (name: string, help: string, defaultValue: number): ControllerFlag => ({
  name,
  type: 'number',
  help,
  default: `${defaultValue}`,
})

/** Maximum endpoints of a slice that the API allows. */
const maxEndpoints = 1000

function count(flags: FlagValues, name: string): number {
  const value = flags.number(name)
  if (Number.isInteger(value) && value >= 1 && value <= maxEndpoints) return value
  throw new ExplainedError(`--${name} must be a whole number from 1 to ${maxEndpoints}, not ${value}`)
}

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'endpoints-controller',
    queue: 'endpoint',
    aliases: ['endpoint'],
    account: 'endpoint-controller',
    flags: [
      concurrencyFlag('concurrent-endpoint-syncs', 'Endpoints', 5),
      batchFlag('endpoint-updates-batch-period', 'pods'),
    ],
    make: async (_sources, flags) =>
      (await import('./legacy/endpoints-controller.ts')).endpointsController({
        concurrency: flags.number('concurrent-endpoint-syncs'),
        batchMs: flags.duration('endpoint-updates-batch-period'),
      }),
  },
  {
    name: 'endpointslice-controller',
    queue: 'endpoint_slice',
    aliases: ['endpointslice'],
    account: 'endpointslice-controller',
    flags: [
      concurrencyFlag('concurrent-service-endpoint-syncs', 'Services', 5),
      batchFlag('endpointslice-updates-batch-period', 'pods'),
      maxFlag('max-endpoints-per-slice', 'maximum number of endpoints in an EndpointSlice', 100),
    ],
    make: async (_sources, flags, registry) => {
      const [{ sliceController }, { ServiceSliceMetrics }] = await Promise.all([
        import('./slices/slice-controller.ts'),
        import('./slices/metrics.ts'),
      ])
      return sliceController({
        concurrency: flags.number('concurrent-service-endpoint-syncs'),
        batchMs: flags.duration('endpointslice-updates-batch-period'),
        max: count(flags, 'max-endpoints-per-slice'),
        metrics: new ServiceSliceMetrics(registry),
      })
    },
  },
  {
    name: 'endpointslice-mirroring-controller',
    queue: 'endpoint_slice_mirroring',
    aliases: ['endpointslicemirroring'],
    account: 'endpointslicemirroring-controller',
    flags: [
      concurrencyFlag('mirroring-concurrent-service-endpoint-syncs', 'Endpoints', 5),
      batchFlag('mirroring-endpointslice-updates-batch-period', 'Endpoints'),
      maxFlag('mirroring-max-endpoints-per-subset', 'maximum number of mirrored addresses of a subset', 1000),
    ],
    make: async (_sources, flags, registry) => {
      const [{ mirroringController }, { MirroringMetrics }] = await Promise.all([
        import('./mirroring/mirroring-controller.ts'),
        import('./mirroring/metrics.ts'),
      ])
      return mirroringController({
        concurrency: flags.number('mirroring-concurrent-service-endpoint-syncs'),
        batchMs: flags.duration('mirroring-endpointslice-updates-batch-period'),
        max: count(flags, 'mirroring-max-endpoints-per-subset'),
        metrics: new MirroringMetrics(registry),
      })
    },
  },
]
