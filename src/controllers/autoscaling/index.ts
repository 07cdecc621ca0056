/** The controller of HorizontalPodAutoscalers. */
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
      duration('sync-period', 'period of evaluating each autoscaler', '15s'),
      duration('downscale-stabilization', 'time for which the highest recommendation prevents a scale-down', '5m0s'),
      duration(
        'cpu-initialization-period',
        'time after its start in which the CPU of a pod counts only while it is ready',
        '5m0s',
      ),
      duration(
        'initial-readiness-delay',
        'time after its start in which a pod that becomes unready counts as never ready',
        '30s',
      ),
      {
        name: `${prefix}-tolerance`,
        type: 'number',
        help: 'relative deviation from the target value that does not change replicas',
        default: '0.1',
      },
    ],
    make: async ({ clock }, flags, registry) => {
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
        now: () => clock.now(),
      })
    },
  },
]
