/** Faults of a KubeletConfiguration, in upstream's words. */
import { isIP } from 'node:net'
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { isQuantity } from '../../machinery/values/quantity.ts'
import { sysctlPatternFault } from '../admission/checks/sysctls.ts'
import { idsPerPodUnit } from '../user-namespaces/id-range.ts'
import { cgroupFaults } from './cgroup-faults.ts'
import type { KubeletConfiguration } from './defaults.ts'
import { evictionFaults } from './eviction-faults.ts'
import { gateFaults } from './gate-faults.ts'
import { imageFaults } from './image-faults.ts'

export function configurationFaults(configuration: KubeletConfiguration): string[] {
  return [
    ...gateFaults(configuration.featureGates),
    ...portFaults(configuration),
    ...durationFaults(configuration),
    ...logMonitorFaults(configuration),
    ...rangeFaults(configuration),
    ...imageFaults(configuration),
    ...configuration.allowedUnsafeSysctls.flatMap((pattern) => sysctlPatternFault(pattern) ?? []),
    ...cgroupFaults(configuration),
    ...evictionFaults(configuration),
    ...choiceFaults(configuration),
    ...taintFaults(configuration),
    ...shutdownFaults(configuration),
    ...userFaults(configuration),
    ...restartFaults(configuration),
    ...amountFaults('systemReserved (--system-reserved)', configuration.systemReserved),
    ...amountFaults('kubeReserved (--kube-reserved)', configuration.kubeReserved),
  ]
}

function portFaults(configuration: KubeletConfiguration): string[] {
  const names = ['port', 'readOnlyPort', 'healthzPort'] as const
  return names.flatMap((name) => {
    const port = configuration[name]
    return port >= 0 && port <= 65_535 ? [] : [`${name} ${port} must be between 0 and 65535`]
  })
}

const durations = [
  'syncFrequency',
  'fileCheckFrequency',
  'httpCheckFrequency',
  'streamingConnectionIdleTimeout',
  'nodeStatusUpdateFrequency',
  'nodeStatusReportFrequency',
  'imageMinimumGCAge',
  'imageMaximumGCAge',
  'volumeStatsAggPeriod',
  'cpuManagerReconcilePeriod',
  'runtimeRequestTimeout',
  'cpuCFSQuotaPeriod',
  'evictionPressureTransitionPeriod',
  'containerLogMonitorInterval',
  'shutdownGracePeriod',
  'shutdownGracePeriodCriticalPods',
] as const

function durationFaults(configuration: KubeletConfiguration): string[] {
  const { authentication, authorization } = configuration
  const values: readonly (readonly [string, string | undefined])[] = [
    ...durations.map((name) => [name, configuration[name]] as const),
    ['authentication.webhook.cacheTTL', authentication.webhook?.cacheTTL],
    ['authorization.webhook.cacheAuthorizedTTL', authorization.webhook?.cacheAuthorizedTTL],
    ['authorization.webhook.cacheUnauthorizedTTL', authorization.webhook?.cacheUnauthorizedTTL],
    ['crashLoopBackOff.maxContainerRestartPeriod', configuration.crashLoopBackOff.maxContainerRestartPeriod],
  ]
  return values.flatMap(([name, value]) =>
    value === undefined || isDuration(value) ? [] : [`${name} ${JSON.stringify(value)} is not a duration`],
  )
}

/** The shortest interval of checks of logs, in ms. */
const minLogMonitorMs = 3_000

function logMonitorFaults({ containerLogMonitorInterval: text }: KubeletConfiguration): string[] {
  const ms = parseDurationMs(text)
  return ms !== undefined && ms < minLogMonitorMs
    ? ['containerLogMonitorInterval must be a positive time duration greater than or equal to 3s']
    : []
}

function isDuration(text: string): boolean {
  try {
    return parseDurationMs(text) !== undefined
  } catch {
    return false
  }
}

function rangeFaults(configuration: KubeletConfiguration): string[] {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = configuration
  const { containerLogMaxFiles: files } = configuration
  const notNegative = [
    ['eventBurst', '--event-burst'],
    ['eventRecordQPS', '--event-qps'],
    ['kubeAPIBurst', '--kube-api-burst'],
    ['kubeAPIQPS', '--kube-api-qps'],
    ['maxOpenFiles', '--max-open-files'],
    ['maxPods', '--max-pods'],
    ['podsPerCore', '--pods-per-core'],
  ] as const
  const between = [
    ['iptablesDropBit', '--iptables-drop-bit', 0, 31],
    ['iptablesMasqueradeBit', '--iptables-masquerade-bit', 0, 31],
    ['oomScoreAdj', '--oom-score-adj', -1000, 1000],
    ['imageGCHighThresholdPercent', '--image-gc-high-threshold', 0, 100],
    ['imageGCLowThresholdPercent', '--image-gc-low-threshold', 0, 100],
  ] as const
  return [
    ...(configuration.nodeLeaseDurationSeconds <= 0 ? ['nodeLeaseDurationSeconds must be greater than 0'] : []),
    ...notNegative.flatMap(([name, flag]) =>
      configuration[name] < 0 ? [`${name} (${flag}) ${configuration[name]} must not be a negative number`] : [],
    ),
    ...between.flatMap(([name, flag, from, to]) =>
      configuration[name] < from || configuration[name] > to
        ? [`${name} (${flag}) ${configuration[name]} must be between ${from} and ${to}, inclusive`]
        : [],
    ),
    ...(low >= high
      ? [
          `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than ` +
            `imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
        ]
      : []),
    ...(files <= 1 ? [`containerLogMaxFiles (--container-log-max-files) ${files} must be greater than 1`] : []),
  ]
}

const choices = [
  ['topologyManagerPolicy', '--topology-manager-policy', ['none', 'best-effort', 'restricted', 'single-numa-node']],
  ['topologyManagerScope', '--topology-manager-scope', ['container', 'pod']],
  ['cpuManagerPolicy', '--cpu-manager-policy', ['none', 'static']],
  ['memoryManagerPolicy', '--memory-manager-policy', ['None', 'Static']],
  ['hairpinMode', '--hairpin-mode', ['none', 'hairpin-veth', 'promiscuous-bridge']],
] as const

function choiceFaults(configuration: KubeletConfiguration): string[] {
  const { memorySwap, authorization, runOnce, clusterDNS, address, healthzBindAddress, logging } = configuration
  const swap = memorySwap.swapBehavior ?? ''
  const mode = authorization.mode ?? ''
  const format = logging.format ?? 'text'
  const notAddress = (name: string, value: string): string[] =>
    isIP(value) === 0 ? [`${name} ${JSON.stringify(value)} is not an IP address`] : []
  return [
    ...choices.flatMap(([name, flag, allowed]) => {
      const value = configuration[name]
      return allowed.some((one) => one === value)
        ? []
        : [`${name} (${flag}) ${JSON.stringify(value)} must be one of: ${JSON.stringify(allowed).replaceAll(',', ' ')}`]
    }),
    ...(['', 'NoSwap', 'LimitedSwap'].includes(swap)
      ? []
      : [`memorySwap.swapBehavior ${JSON.stringify(swap)} must be one of: "", "LimitedSwap" or "NoSwap"`]),
    ...(['AlwaysAllow', 'Webhook'].includes(mode)
      ? []
      : [`authorization.mode (--authorization-mode) ${JSON.stringify(mode)} must be AlwaysAllow or Webhook`]),
    ...(['text', 'json'].includes(format) ? [] : [`logging.format ${JSON.stringify(format)}: Unsupported log format`]),
    ...(runOnce ? ['runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set'] : []),
    ...clusterDNS.flatMap((server) => notAddress('clusterDNS (--cluster-dns)', server)),
    ...notAddress('address (--address)', address),
    ...notAddress('healthzBindAddress (--healthz-bind-address)', healthzBindAddress),
  ]
}

const taintEffects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

const taintFaults = ({ registerWithTaints }: KubeletConfiguration): string[] =>
  registerWithTaints.flatMap(({ key, value = '', effect, timeAdded }) => [
    ...(key && taintEffects.includes(effect) ? [] : [`invalid taint: ${key}=${value}:${effect}`]),
    ...(timeAdded ? ['taint.TimeAdded is not nil'] : []),
  ])

function shutdownFaults(configuration: KubeletConfiguration): string[] {
  const { shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: critical } = configuration
  if (!isDuration(all) || !isDuration(critical)) return []
  const [allMs = 0, criticalMs = 0] = [parseDurationMs(all), parseDurationMs(critical)]
  const tooShort = (name: string, ms: number, text: string): string[] =>
    ms < 0 || (ms > 0 && ms < 1000) ? [`${name} {${text}} must be either zero or otherwise >= 1 sec`] : []
  const both = (configuration.shutdownGracePeriodByPodPriority?.length ?? 0) > 0 && (allMs > 0 || criticalMs > 0)
  return [
    ...(criticalMs > allMs
      ? [`shutdownGracePeriodCriticalPods {${critical}} must be <= shutdownGracePeriod {${all}}`]
      : []),
    ...tooShort('shutdownGracePeriod', allMs, all),
    ...tooShort('shutdownGracePeriodCriticalPods', criticalMs, critical),
    ...(both ? ['Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time'] : []),
  ]
}

function restartFaults({ crashLoopBackOff, featureGates }: KubeletConfiguration): string[] {
  const { maxContainerRestartPeriod: period } = crashLoopBackOff
  if (period === undefined || !isDuration(period)) return []
  if (!new FeatureGates(featureGates).isEnabled('KubeletCrashLoopBackOffMax'))
    return [
      'FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set',
    ]
  const seconds = (parseDurationMs(period) ?? 0) / 1000
  return seconds >= 1 && seconds <= 300
    ? []
    : [`CrashLoopBackOff.MaxContainerRestartPeriod (got: ${seconds} seconds) must be set between 1s and 300s`]
}

function userFaults({ userNamespaces }: KubeletConfiguration): string[] {
  const ids = userNamespaces?.idsPerPod
  const invalid = 'userNamespaces.idsPerPod must'
  if (ids === undefined) return []
  if (ids < idsPerPodUnit) return [`${invalid} not be less than ${idsPerPodUnit}`]
  if (ids % idsPerPodUnit !== 0) return [`${invalid} be a multiple of ${idsPerPodUnit}`]
  return ids > 0xffff_ffff ? [`${invalid} not be more than ${0xffff_ffff}`] : []
}

const amountFaults = (name: string, amounts: Readonly<Record<string, string>>): string[] =>
  Object.entries(amounts).flatMap(([resource, amount]) =>
    isQuantity(amount) ? [] : [`${name} ${resource}=${amount} is not a quantity`],
  )
