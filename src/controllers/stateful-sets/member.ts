/** Builds the pods of a StatefulSet, with names and volumes by ordinal. */
import type { Pod, StatefulSet } from '../../client/kinds.ts'
import { podFromTemplate } from '../pods/writes/pod-from-template.ts'
import { claimName, claimTemplates, templateName } from './claims/claim.ts'
import type { SetRevision } from './decisions/situation.ts'
import { ordinalOf, podIndexLabel, podName, podNameLabel, revisionLabel } from './identity.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

/** Builds the pod of an ordinal at a revision. */
export function memberOf(set: StatefulSet, { name: revision, template }: SetRevision, ordinal: number): Pod {
  const pod = podFromTemplate(template, set)
  const name = podName(set, ordinal)
  const spec = pod.spec ?? { containers: [] }
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name,
      labels: { ...pod.metadata.labels, ...identityLabels(name, ordinal), [revisionLabel]: revision },
    },
    spec: {
      ...spec,
      hostname: name,
      subdomain: set.spec?.serviceName,
      volumes: withClaims(set, ordinal, spec.volumes ?? []),
    },
  }
}

const identityLabels = (name: string, ordinal: number): Record<string, string> => ({
  [podNameLabel]: name,
  [podIndexLabel]: `${ordinal}`,
})

/** Adds a volume for each claim, replacing volumes of the same name in the template. */
function withClaims(set: StatefulSet, ordinal: number, volumes: readonly Volume[]): Volume[] {
  const templates = claimTemplates(set)
  const names = new Set(templates.map(templateName))
  const claimed = templates.map((template) => ({
    name: templateName(template),
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }))
  return [...claimed, ...volumes.filter(({ name }) => !names.has(name))]
}

/** Returns the pod with corrected identity and volumes; undefined if they are correct. */
export function correctedMember(set: StatefulSet, pod: Pod): Pod | undefined {
  const ordinal = ordinalOf(set, pod)
  if (ordinal === undefined) return undefined
  const { name = '', labels } = pod.metadata
  const isNamed = labels?.[podNameLabel] === name
  const hasVolumes = claimTemplates(set).every((template) =>
    pod.spec?.volumes?.some(
      (volume) =>
        volume.name === templateName(template) &&
        volume.persistentVolumeClaim?.claimName === claimName(set, template, ordinal),
    ),
  )
  if (isNamed && hasVolumes) return undefined
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...labels, ...identityLabels(name, ordinal) } },
    ...(pod.spec &&
      !hasVolumes && { spec: { ...pod.spec, volumes: withClaims(set, ordinal, pod.spec.volumes ?? []) } }),
  }
}
