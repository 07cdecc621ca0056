/** The fields of a KubeletConfiguration that have no effect in this kubelet, with the reasons. */
import type { WrittenConfiguration } from './shape.ts'

type Field = keyof WrittenConfiguration

const idleFields: Readonly<Record<string, readonly Field[]>> = {
  'changes of the API and the runtime are followed, not polled': ['syncFrequency'],
  'there are no managers of processors, memory and their topology': [
    'cpuManagerPolicy',
    'cpuManagerPolicyOptions',
    'cpuManagerReconcilePeriod',
    'memoryManagerPolicy',
    'topologyManagerPolicy',
    'topologyManagerScope',
    'topologyManagerPolicyOptions',
    'qosReserved',
    'reservedSystemCPUs',
    'reservedMemory',
  ],
  'the network is that of CNI and kube-proxy': [
    'hairpinMode',
    'makeIPTablesUtilChains',
    'iptablesMasqueradeBit',
    'iptablesDropBit',
  ],
  'Node negotiates them': ['tlsCurvePreferences'],
  'there are no locks': ['enableContentionProfiling'],
  'there is no tracing': ['tracing'],
  'requests are sent as JSON': ['contentType'],
  'events are aggregated, not dropped': ['eventRecordQPS', 'eventBurst'],
  'the limit of open files is that of the process': ['maxOpenFiles'],
  'its metrics are the same for everybody': ['showHiddenMetricsForVersion'],
  'volume plug-ins are CSI drivers': ['volumePluginDir', 'enableControllerAttachDetach'],
  'objects are read when a pod needs them': ['configMapAndSecretChangeDetectionStrategy'],
  'the kubelet does not move processes': ['kubeletCgroups', 'systemCgroups'],
  'its feature gate is off by default and has no effect here': [
    'memoryThrottlingFactor',
    'memoryReservationPolicy',
    'enableSystemLogQuery',
  ],
  'connections end with their clients': ['streamingConnectionIdleTimeout'],
  'logs are rotated one after the other': ['containerLogMaxWorkers'],
  'memory is measured at intervals': ['kernelMemcgNotification'],
  'its feature gate is off by default, and the period is that of the kernel': ['cpuCFSQuotaPeriod'],
  'all pods are reported and run until they end': ['runOnce'],
}

const reasons = new Map<string, string>(
  Object.entries(idleFields).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
)

/** Why a field has no effect; undefined if it has one. */
export const idleReason = (field: string): string | undefined => reasons.get(field)

/** One line that names the fields without effect among the given ones; empty if there are none. */
export function idleFieldsLine(given: Iterable<string>): string[] {
  const names = [...new Set(given)].filter((name) => reasons.has(name))
  return names.length > 0 ? [`fields of the KubeletConfiguration without effect here: ${names.join(', ')}`] : []
}
