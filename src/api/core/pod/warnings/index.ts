/**
 * Warnings about valid pods and templates with deprecated, useless or surprising fields. The messages are upstream's.
 * `prefix` is the path of the template with a trailing dot; it is empty for pods.
 */

import { addressWarnings } from '../../../../machinery/validation/address-warnings.ts'
import { dnsLabel } from '../../../../machinery/validation/names.ts'
import { labelKeyWarnings, nodeLabelWarning, nodeSelectorTermWarnings } from '../../cluster/node-labels.ts'
import { appArmorWarnings } from '../app-armor.ts'
import type { Affinity, Pod, PodSpec, PodTemplate } from '../model.ts'
import { cacheIfPassed, isCached } from '../template-mates.ts'
import { containerWarnings, fractionalBytes, portWarnings } from './containers.ts'
import { volumeWarnings } from './volumes.ts'

/** Warns of a name that is no DNS label but used in host names; `used` describes the use. */
export function hostNameWarnings(name: string | undefined, used: string): string[] {
  const wrong = dnsLabel(name ?? '')
  return wrong.length === 0
    ? []
    : [
        `metadata.name: this is used in ${used}, which can result in surprising behavior; a DNS label is ` +
          `recommended: [${wrong.join(' ')}]`,
      ]
}

/** Warns of names of kinds whose pods' names begin with their own. */
export const podNameWarnings = (name: string | undefined): string[] => hostNameWarnings(name, 'Pod names and hostnames')

const none: readonly string[] = []

/** Returns warnings about a new pod. Updates cause none: most are not sent by people. */
export const podWarnings = (pod: Pod, old?: Pod): readonly string[] =>
  old
    ? none
    : [...appArmorWarnings(pod), ...hostNameWarnings(pod.metadata.name, "the Pod's hostname"), ...newSpecWarnings(pod)]

function newSpecWarnings(pod: Pod): readonly string[] {
  if (isCached(pod)) return none
  const warnings = specWarnings(pod.spec, pod.metadata.annotations, '')
  if (warnings.length === 0) cacheIfPassed(pod)
  return warnings
}

/** Returns warnings about the template at `path`. */
export const templateWarnings = (template: PodTemplate | undefined, path = 'spec.template'): readonly string[] =>
  template ? specWarnings(template.spec, template.metadata?.annotations, `${path}.`) : none

const deprecatedAnnotations: readonly (readonly [key: string, message: string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]

type Annotations = Readonly<Record<string, string>> | undefined

function specWarnings(spec: PodSpec | undefined, annotations: Annotations, prefix: string): readonly string[] {
  if (!spec) return none
  const path = `${prefix}spec`
  const warnings: string[] = []
  if (spec.nodeSelector) warnings.push(...labelKeyWarnings(spec.nodeSelector, (key) => `${path}.nodeSelector[${key}]`))
  if (spec.affinity?.nodeAffinity)
    warnings.push(...nodeAffinityWarnings(spec.affinity.nodeAffinity, `${path}.affinity.nodeAffinity`))
  if (spec.topologySpreadConstraints)
    warnings.push(...spreadWarnings(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`))
  if (annotations)
    for (const [key, message] of deprecatedAnnotations)
      if (Object.hasOwn(annotations, key)) warnings.push(`${prefix}metadata.annotations[${key}]: ${message}`)
  if (spec.volumes) warnings.push(...volumeWarnings(spec.volumes, `${path}.volumes`))
  if (spec.hostAliases) warnings.push(...repeated(spec.hostAliases, 'ip', `${path}.hostAliases`))
  if (spec.imagePullSecrets) warnings.push(...pullSecretWarnings(spec.imagePullSecrets, `${path}.imagePullSecrets`))
  if (spec.overhead) warnings.push(...fractionalBytes(spec.overhead, `${path}.overhead`))
  warnings.push(...containerWarnings(spec, annotations, prefix), ...portWarnings(spec, path))
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    warnings.push(
      `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    )
  if (spec.affinity) warnings.push(...podAffinityWarnings(spec.affinity, `${path}.affinity`))
  if (spec.dnsConfig?.nameservers)
    warnings.push(
      ...spec.dnsConfig.nameservers.flatMap((server, i) =>
        addressWarnings(server, `${path}.dnsConfig.nameservers[${i}]`),
      ),
    )
  if (spec.hostAliases)
    warnings.push(...spec.hostAliases.flatMap(({ ip }, i) => addressWarnings(ip, `${path}.hostAliases[${i}].ip`)))
  return warnings
}

function nodeAffinityWarnings(affinity: NonNullable<Affinity['nodeAffinity']>, path: string): string[] {
  const required = affinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const preferred = affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []
  return [
    ...required.flatMap((term, i) =>
      nodeSelectorTermWarnings(term, `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`),
    ),
    ...preferred.flatMap(({ preference }, i) =>
      nodeSelectorTermWarnings(
        preference ?? {},
        `${path}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`,
        true,
      ),
    ),
  ]
}

const matchesNothing = 'a null labelSelector results in matching no pod'

const spreadWarnings = (constraints: NonNullable<PodSpec['topologySpreadConstraints']>, path: string): string[] =>
  constraints.flatMap(({ topologyKey, labelSelector }, i) => {
    const message = nodeLabelWarning(topologyKey)
    return [
      ...(message ? [`${path}[${i}].topologyKey: ${topologyKey} is ${message}`] : []),
      ...(labelSelector ? [] : [`${path}[${i}].labelSelector: ${matchesNothing}`]),
    ]
  })

function podAffinityWarnings(affinity: Affinity, path: string): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((field) => {
    const required = affinity[field]?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const preferred = affinity[field]?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    return [
      ...required.flatMap(({ labelSelector }, i) =>
        labelSelector
          ? []
          : [`${path}.${field}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector: ${matchesNothing}`],
      ),
      ...preferred.flatMap(({ podAffinityTerm }, i) =>
        podAffinityTerm?.labelSelector
          ? []
          : [
              `${path}.${field}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm.labelSelector: ` +
                `${matchesNothing}`,
            ],
      ),
    ]
  })
}

function repeated<Field extends string>(
  list: readonly { [Key in Field]?: string }[],
  field: Field,
  path: string,
): string[] {
  const seen = new Set<string>()
  return list.flatMap((item, i) => {
    const value = item[field] ?? ''
    if (seen.has(value)) return [`${path}[${i}].${field}: duplicate ${field} ${JSON.stringify(value)}`]
    seen.add(value)
    return []
  })
}

const pullSecretWarnings = (secrets: NonNullable<PodSpec['imagePullSecrets']>, path: string): string[] => [
  ...repeated(secrets, 'name', path),
  ...secrets.flatMap(({ name }, i) => (name ? [] : [`${path}[${i}].name: invalid empty name ""`])),
]
