/** Builds the claims of a StatefulSet's pods from its templates. */
import type { PersistentVolumeClaim, StatefulSet } from '../../../client/kinds.ts'
import { claimOwners } from './owners.ts'

export type ClaimTemplate = NonNullable<NonNullable<StatefulSet['spec']>['volumeClaimTemplates']>[number]

export const claimTemplates = ({ spec }: StatefulSet): readonly ClaimTemplate[] => spec?.volumeClaimTemplates ?? []

export const templateName = ({ metadata }: ClaimTemplate): string => metadata?.name ?? ''

export const claimName = ({ metadata }: StatefulSet, template: ClaimTemplate, ordinal: number): string =>
  `${templateName(template)}-${metadata.name}-${ordinal}`

/** Builds the claim of an ordinal, with labels that match the set's selector. */
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
