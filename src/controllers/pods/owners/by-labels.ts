/**
 * The pods that a selector chooses, found without looking at all pods of a namespace: they are indexed by each of their
 * labels.
 */
import type { Caches } from '../../../client/controller/controller.ts'
import { type Pod, pods } from '../../../client/kinds.ts'
import type { Selector } from '../../../machinery/selectors/label-selector.ts'

/** Names one label of one namespace. */
export const labelKey = (namespace: string, name: string, value: string): string => `${namespace}/${name}=${value}`

const podLabels = ({ metadata: { namespace = '', labels = {} } }: Pod): string[] =>
  Object.entries(labels).map(([name, value]) => labelKey(namespace, name, value))

/** Pods of a namespace that match. The controller has to look at pods. */
export function* selectedPods(caches: Caches, namespace: string, selector: Selector): Generator<Pod> {
  // One label that they all have is enough to find them by.
  const label = selector.requirements.find(
    ({ operator, values }) => (operator === '=' || operator === '==' || operator === 'in') && values.length === 1,
  )
  const candidates = label
    ? caches.by(pods, podLabels, labelKey(namespace, label.key, label.values[0] ?? ''))
    : caches.in(pods, namespace)
  for (const pod of candidates) if (selector.matches(pod.metadata.labels)) yield pod
}
