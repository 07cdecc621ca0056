/** As many replicas as the load needs. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { type ControllerFlag, concurrencyFlag } from '../flags.ts'

const prefix = 'horizontal-pod-autoscaler'
const duration = (name: string, help: string, fallback: string): ControllerFlag => ({
  name: `${prefix}-${name}`,
  type: 'duration',
  help,
  default: fallback,
})

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'horizontal-pod-autoscaler-controller',
    queue: 'horizontalpodautoscaler',
    aliases: ['horizontalpodautoscaling'],
    account: 'horizontal-pod-autoscaler',
    flags: [
      concurrencyFlag(`concurrent-${prefix}-syncs`, 'HorizontalPodAutoscalers', 5),
      duration('sync-period', 'how often an autoscaler looks at what is measured', '15s'),
      duration('downscale-stabilization', 'how long the highest recommendation holds before replicas go', '5m0s'),
      duration(
        'cpu-initialization-period',
        'how long after its start the CPU of a pod counts only while the pod is ready',
        '5m0s',
      ),
      duration(
        'initial-readiness-delay',
        'how long after its start a pod that becomes unready has never been ready',
        '30s',
      ),
      {
        name: `${prefix}-tolerance`,
        type: 'number',
        help: 'by how much of the wanted value a measured one may be off before replicas change',
        default: '0.1',
      },
    ],
    make: async (_sources, flags, registry) => {
      const [{ autoscalerController }, { ScalingMetrics }] = await Promise.all([
        import('./autoscaler-controller.ts'),
        import('./scaling-metrics.ts'),
      ])
      return autoscalerController({
        metrics: new ScalingMetrics(registry),
        concurrency: flags.number(`concurrent-${prefix}-syncs`),
        periodMs: flags.duration(`${prefix}-sync-period`),
        downscaleMs: flags.duration(`${prefix}-downscale-stabilization`),
        initializationMs: flags.duration(`${prefix}-cpu-initialization-period`),
        readinessDelayMs: flags.duration(`${prefix}-initial-readiness-delay`),
        tolerance: flags.number(`${prefix}-tolerance`),
        now: Date.now,
      })
    },
  },
]
