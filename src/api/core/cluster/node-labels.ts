/** Labels of nodes that are on their way out, and what is said to who still selects by them. */
import type { V1LabelSelector, V1NodeSelectorTerm } from '@kubernetes/client-node'
import { own } from '../../../lib/own.ts'
import type { Wire } from '../../../machinery/object.ts'
import { labelValue } from '../../../machinery/validation/names.ts'

const deprecatedLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
}

/** What to use instead of a label; undefined if nothing is wrong with it. */
export const deprecatedNodeLabel = (key: string): string | undefined => own(deprecatedLabels, key)

/** Deprecated labels among the keys of a map; `where` says how a key's path is written. */
export function labelKeyWarnings(
  labels: Readonly<Record<string, string>> | undefined,
  where: (key: string) => string,
): string[] {
  const warnings: string[] = []
  for (const key in labels) {
    const message = deprecatedNodeLabel(key)
    if (message) warnings.push(`${where(key)}: ${message}`)
  }
  return warnings
}

/**
 * Deprecated labels in one term of a node selector. Terms that are only preferred may hold values that no label has:
 * `looksAtValues`.
 */
export function nodeSelectorTermWarnings(
  { matchExpressions = [] }: Wire<V1NodeSelectorTerm>,
  path: string,
  looksAtValues = false,
): string[] {
  return matchExpressions.flatMap(({ key, values = [] }, i) => {
    const at = `${path}.matchExpressions[${i}]`
    const message = deprecatedNodeLabel(key)
    return [
      ...(message ? [`${at}.key: ${key} is ${message}`] : []),
      ...(looksAtValues
        ? values.flatMap((value, j) =>
            labelValue(value).map((wrong) => `${at}.values[${j}]: ${value} is invalid, ${wrong}`),
          )
        : []),
    ]
  })
}

/** Deprecated labels in a LabelSelector that is about nodes. */
export function nodeLabelSelectorWarnings(selector: Wire<V1LabelSelector> | undefined, path: string): string[] {
  return [
    ...nodeSelectorTermWarnings({ matchExpressions: selector?.matchExpressions }, path),
    ...labelKeyWarnings(selector?.matchLabels, (key) => `${path}.matchLabels.${key}`),
  ]
}
