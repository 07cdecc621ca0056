/** Looks up the pods that match a selector in an index by label, instead of scanning all pods of a namespace. */
import type { Caches } from '../../../client/controller/controller.ts'
import { type Pod, pods } from '../../../client/kinds.ts'
import type { Selector } from '../../../machinery/selectors/label-selector.ts'

/** The index key of one label in one namespace. */
export const labelKey = (namespace: string, name: string, value: string): string => `${namespace}/${name}=${value}`

const podLabels = ({ metadata: { namespace = '', labels = {} } }: Pod): string[] =>
  Object.entries(labels).map(([name, value]) => labelKey(namespace, name, value))

/** Yields the matching pods of a namespace. The controller must watch pods. */
export function* selectedPods(caches: Caches, namespace: string, selector: Selector): Generator<Pod> {
  // One label that all matches have is enough for the look-up.
  const label = selector.requirements.find(
    ({ operator, values }) => (operator === '=' || operator === '==' || operator === 'in') && values.length === 1,
  )
  const candidates = label
    ? caches.by(pods, podLabels, labelKey(namespace, label.key, label.values[0] ?? ''))
    : caches.in(pods, namespace)
  for (const pod of candidates) if (selector.matches(pod.metadata.labels)) yield pod
}
