/** What is told of volumes and claims (`pv_collector_*`): counted when somebody asks. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../client/kinds.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'

export interface KnownVolumes {
  volumes(): Iterable<PersistentVolume>
  claims(): Iterable<PersistentVolumeClaim>
}

/** Upstream's names of what volumes are made of, where they are not the name of the field. */
const plugins: Readonly<Record<string, string>> = {
  hostPath: 'kubernetes.io/host-path',
  nfs: 'kubernetes.io/nfs',
  local: 'kubernetes.io/local-volume',
  fc: 'kubernetes.io/fc',
  iscsi: 'kubernetes.io/iscsi',
}

/** Tells of what `known` says from now on. */
export function volumeMetrics(registry: MetricsRegistry, known: KnownVolumes): void {
  const gauge = <T>(
    name: string,
    what: string,
    labels: readonly string[],
    all: () => Iterable<T>,
    labelsOf: (object: T) => readonly string[] | undefined,
  ): void => registry.gauge(`pv_collector_${name}`, `Gauge measuring ${what}`, labels, () => tallied(all(), labelsOf))
  const volume = (name: string, what: string, isMeant: (phase: string | undefined) => boolean): void =>
    gauge(
      `${name}_pv_count`,
      `number of persistent volume currently ${what}`,
      ['storage_class'],
      known.volumes,
      ({ spec, status }) => (isMeant(status?.phase) ? [spec?.storageClassName ?? ''] : undefined),
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
  const claim = (name: string, isMeant: (phase: string | undefined) => boolean): void =>
    gauge(
      `${name}_pvc_count`,
      `number of persistent volume claim currently ${name}`,
      ['namespace', 'storage_class', 'volume_attributes_class'],
      known.claims,
      ({ metadata, spec, status }) =>
        isMeant(status?.phase)
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

/** How many have the same labels; those without labels are left out. */
function tallied<T>(
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
