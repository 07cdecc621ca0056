/** Copies labels of nodes to their older (beta) names. */
import type { Node } from '../../../client/kinds.ts'

const olderNames: Readonly<Record<string, string>> = {
  'kubernetes.io/os': 'beta.kubernetes.io/os',
  'kubernetes.io/arch': 'beta.kubernetes.io/arch',
}

/** Returns the labels to set; undefined if none must change. */
export function olderLabels({ metadata: { labels = {} } }: Node): Record<string, string> | undefined {
  const set = Object.entries(olderNames).flatMap(([name, older]) =>
    labels[name] !== undefined && labels[older] !== labels[name] ? [[older, labels[name]]] : [],
  )
  return set.length > 0 ? Object.fromEntries(set) : undefined
}
