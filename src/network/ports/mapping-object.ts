/** The ConfigMap with the mappings of ports: `t8s port` and kubectl write its data, the real node reports beside it. */
import type { ConfigMap } from '../../client/kinds.ts'
import { type PortMapping, parseMapping } from './port-mapping.ts'

export const mappingsObject = { namespace: 'kube-system', name: 't8s-ports' } as const

/** The annotation with a sentence for each text of a mapping, as JSON. */
export const statusAnnotation = 'ports.typernetes.io/status'

/** The mappings by their texts; undefined for texts that are none. */
export const mappingsIn = (object: ConfigMap | undefined): ReadonlyMap<string, PortMapping | undefined> =>
  new Map(Object.values(object?.data ?? {}).map((text) => [text, parseMapping(text.trim())]))

/** The sentences by the texts of mappings. Empty without a report. */
export function statusesIn(object: ConfigMap | undefined): ReadonlyMap<string, string> {
  try {
    const parsed: unknown = JSON.parse(object?.metadata.annotations?.[statusAnnotation] ?? '{}')
    const entries = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : []
    return new Map(entries.flatMap(([text, value]) => (typeof value === 'string' ? [[text, value] as const] : [])))
  } catch {
    // Others have changed the annotation; the next report replaces it.
    return new Map()
  }
}
