/** Metrics of volumes and claims (`pv_collector_*`), computed when scraped. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../client/kinds.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'

export interface KnownVolumes {
  volumes(): Iterable<PersistentVolume>
  claims(): Iterable<PersistentVolumeClaim>
}

/** Upstream's plug-in names by field of the volume's spec. */
const plugins: Readonly<Record<string, string>> = {
  hostPath: 'kubernetes.io/host-path',
  nfs: 'kubernetes.io/nfs',
  local: 'kubernetes.io/local-volume',
  fc: 'kubernetes.io/fc',
  iscsi: 'kubernetes.io/iscsi',
}

/** Registers gauges of the objects that `known` returns. */
export function volumeMetrics(registry: MetricsRegistry, known: KnownVolumes): void {
  const gauge = <T>(
    name: string,
    text: string,
    labels: readonly string[],
    all: () => Iterable<T>,
    labelsOf: (object: T) => readonly string[] | undefined,
  ): void =>
    registry.gauge(`pv_collector_${name}`, `Gauge measuring ${text}`, labels, () => countByLabels(all(), labelsOf))
  const volume = (name: string, text: string, matches: (phase: string | undefined) => boolean): void =>
    gauge(
      `${name}_pv_count`,
      `number of persistent volume currently ${text}`,
      ['storage_class'],
      known.volumes,
      ({ spec, status }) => (matches(status?.phase) ? [spec?.storageClassName ?? ''] : undefined),
    )
  volume('bound', 'bound', (phase) => phase === 'Bound')
  volume('unbound', 'unbound', (phase) => phase !== 'Bound')
  gauge(
    'total_pv_count',
    'total number of persistent volumes',
    ['plugin_name', 'volume_mode'],
    known.volumes,
    (object) => [pluginOf(object), object.spec?.volumeMode ?? 'Filesystem'],
  )
  const claim = (name: string, matches: (phase: string | undefined) => boolean): void =>
    gauge(
      `${name}_pvc_count`,
      `number of persistent volume claim currently ${name}`,
      ['namespace', 'storage_class', 'volume_attributes_class'],
      known.claims,
      ({ metadata, spec, status }) =>
        matches(status?.phase)
          ? [metadata.namespace ?? '', spec?.storageClassName ?? '', spec?.volumeAttributesClassName ?? '']
          : undefined,
    )
  claim('bound', (phase) => phase === 'Bound')
  claim('unbound', (phase) => phase !== 'Bound')
}

function pluginOf({ spec }: PersistentVolume): string {
  if (spec?.csi) return `kubernetes.io/csi:${spec.csi.driver}`
  return Object.entries(plugins).find(([field]) => spec && Object.hasOwn(spec, field))?.[1] ?? 'N/A'
}

/** Counts objects by labels; skips objects without labels. */
function countByLabels<T>(
  objects: Iterable<T>,
  labelsOf: (object: T) => readonly string[] | undefined,
): Iterable<readonly [readonly string[], number]> {
  const tally = new Map<string, { readonly labels: readonly string[]; count: number }>()
  for (const object of objects) {
    const labels = labelsOf(object)
    if (!labels) continue
    const key = labels.join('\0')
    const known = tally.get(key)
    if (known) known.count++
    else tally.set(key, { labels, count: 1 })
  }
  return [...tally.values()].map(({ labels, count }) => [labels, count] as const)
}
