/** Builds the pods of a DaemonSet: with a node affinity for their node and a revision label. */
import type { DaemonSet, Pod } from '../../client/kinds.ts'
import { nodeNameField } from '../../machinery/selectors/node-selector.ts'
import { podFromTemplate } from '../pods/writes/pod-from-template.ts'
import { daemonTolerations } from './nodes/tolerations.ts'

/** The label on revisions and pods. */
export const hashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'
const generationAnnotation = 'deprecated.daemonset.template.generation'

/** The generation of the template; undefined if the annotation is invalid. */
function generationOf({ metadata }: DaemonSet): string | undefined {
  const generation = metadata.annotations?.[generationAnnotation] ?? ''
  return /^-?\d+$/.test(generation) ? generation : undefined
}

/**
 * Builds the pod for a node. Its affinity, which replaces the template's required affinity, lets the scheduler bind it
 * only to that node.
 */
export function daemonPod(set: DaemonSet, hash: string, node: string): Pod {
  const { metadata, spec, ...pod } = podFromTemplate(set.spec?.template ?? {}, set)
  const generation = generationOf(set)
  const term = { matchFields: [{ key: nodeNameField, operator: 'In', values: [node] }] }
  const { affinity } = spec ?? {}
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...(generation && { [generationLabel]: generation }), [hashLabel]: hash },
    },
    spec: {
      ...(spec ?? { containers: [] }),
      tolerations: daemonTolerations(spec ?? {}),
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
        },
      },
    },
  }
}

/** The node of a pod: that it is bound to or has an affinity for; undefined if neither. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName
  for (const { matchFields = [] } of spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values = [] } of matchFields)
      if (key === nodeNameField && operator === 'In' && values.length === 1) return values[0]
  }
  return undefined
}

/** Returns true if a pod has the newest revision. */
export function isUpdated({ metadata: { labels } }: Pod, set: DaemonSet, hash: string): boolean {
  if (labels?.[hashLabel] === hash) return true
  const generation = generationOf(set)
  return generation !== undefined && labels?.[generationLabel] === generation
}
