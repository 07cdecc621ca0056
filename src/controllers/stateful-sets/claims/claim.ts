/** The claims of a StatefulSet's pods: their names, and how they are made from its templates. */
import type { PersistentVolumeClaim, StatefulSet } from '../../../client/kinds.ts'
import { claimOwners } from './owners.ts'

export type ClaimTemplate = NonNullable<NonNullable<StatefulSet['spec']>['volumeClaimTemplates']>[number]

export const claimTemplates = ({ spec }: StatefulSet): readonly ClaimTemplate[] => spec?.volumeClaimTemplates ?? []

export const templateName = ({ metadata }: ClaimTemplate): string => metadata?.name ?? ''

export const claimName = ({ metadata }: StatefulSet, template: ClaimTemplate, ordinal: number): string =>
  `${templateName(template)}-${metadata.name}-${ordinal}`

/** The claim of an ordinal that the set wants. The set's selector finds it. */
export function claimFrom(set: StatefulSet, template: ClaimTemplate, ordinal: number): PersistentVolumeClaim {
  const { labels, annotations } = template.metadata ?? {}
  const ownerReferences = claimOwners([], set, undefined, ordinal)
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(set, template, ordinal),
      namespace: set.metadata.namespace,
      labels: { ...labels, ...set.spec?.selector.matchLabels },
      ...(annotations && { annotations }),
      ...(ownerReferences && { ownerReferences: [...ownerReferences] }),
    },
    spec: template.spec,
  }
}
