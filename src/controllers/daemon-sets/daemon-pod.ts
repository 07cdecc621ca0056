/** The pods of a DaemonSet: bound to their node by a node affinity, and labelled with the revision that they are of. */
import type { DaemonSet, Pod } from '../../client/kinds.ts'
import { nodeNameField } from '../../machinery/selectors/node-selector.ts'
import { podFromTemplate } from '../pods/writes/pod-from-template.ts'
import { daemonTolerations } from './nodes/tolerations.ts'

/** On revisions and on pods. */
export const hashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'
const generationAnnotation = 'deprecated.daemonset.template.generation'

/** Counts changes of the template; undefined where it makes no sense. */
function generationOf({ metadata }: DaemonSet): string | undefined {
  const generation = metadata.annotations?.[generationAnnotation] ?? ''
  return /^-?\d+$/.test(generation) ? generation : undefined
}

/**
 * The pod for a node. The scheduler binds it: to no other node, because the required affinity of the template, which
 * the node has met, gives way.
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

/** The node that a pod is on, or is meant for; undefined for one that is for no node in particular. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName
  for (const { matchFields = [] } of spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values = [] } of matchFields)
      if (key === nodeNameField && operator === 'In' && values.length === 1) return values[0]
  }
  return undefined
}

/** Whether a pod is of the newest revision. */
export function isUpdated({ metadata: { labels } }: Pod, set: DaemonSet, hash: string): boolean {
  if (labels?.[hashLabel] === hash) return true
  const generation = generationOf(set)
  return generation !== undefined && labels?.[generationLabel] === generation
}
