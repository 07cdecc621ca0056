/** Deprecated labels of nodes, and the warnings for objects that select by them. */
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

/** Returns the warning about a deprecated label, or undefined for other labels. */
export const nodeLabelWarning = (key: string): string | undefined => own(deprecatedLabels, key)

/** Returns warnings about deprecated labels among the keys of a map; `where` returns the path of a key. */
export function labelKeyWarnings(
  labels: Readonly<Record<string, string>> | undefined,
  pathOf: (key: string) => string,
): string[] {
  const warnings: string[] = []
  for (const key in labels) {
    const message = nodeLabelWarning(key)
    if (message) warnings.push(`${pathOf(key)}: ${message}`)
  }
  return warnings
}

/**
 * Returns warnings about deprecated labels in one term of a node selector. `checksValues` adds those about invalid
 * values, which only preferred terms may have.
 */
export function nodeSelectorTermWarnings(
  { matchExpressions = [] }: Wire<V1NodeSelectorTerm>,
  path: string,
  checksValues = false,
): string[] {
  return matchExpressions.flatMap(({ key, values = [] }, i) => {
    const at = `${path}.matchExpressions[${i}]`
    const message = nodeLabelWarning(key)
    return [
      ...(message ? [`${at}.key: ${key} is ${message}`] : []),
      ...(checksValues
        ? values.flatMap((value, j) =>
            labelValue(value).map((wrong) => `${at}.values[${j}]: ${value} is invalid, ${wrong}`),
          )
        : []),
    ]
  })
}

/** Returns warnings about deprecated labels in a LabelSelector of nodes. */
export function nodeLabelSelectorWarnings(selector: Wire<V1LabelSelector> | undefined, path: string): string[] {
  return [
    ...nodeSelectorTermWarnings({ matchExpressions: selector?.matchExpressions }, path),
    ...labelKeyWarnings(selector?.matchLabels, (key) => `${path}.matchLabels.${key}`),
  ]
}
