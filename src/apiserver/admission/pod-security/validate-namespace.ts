/** Validates the labels of a namespace that is written, and warns of existing pods that violate a stricter level. */
import type { Pod } from '../../../api/core/pod/model.ts'
import { invalid } from '../../../machinery/status-error.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { existingPodWarnings } from './existing-pods.ts'
import type { PodSecurityConfiguration } from './policy/configuration.ts'
import {
  annotationKey,
  compareLevels,
  isFullyPrivileged,
  isSame,
  type LevelVersion,
  modes,
  type Policy,
  type ReadPolicy,
  readPolicy,
  standardText,
} from './policy/policy.ts'

export interface NamespaceSources {
  readonly configuration: PodSecurityConfiguration
  readonly registry: Registry
  readonly pods: ServedResource
}

/** Throws a StatusError (422) for invalid labels. Returns a promise only if existing pods are evaluated. */
export function validateNamespace(attributes: AdmissionAttributes, sources: NamespaceSources): void | Promise<void> {
  const { operation, resource, object, old, name } = attributes
  const { defaults, exempt } = sources.configuration
  if (!object) return
  const now = readPolicy(object.metadata.labels, defaults)
  const before = operation === 'UPDATE' ? readPolicy(old?.metadata.labels, defaults) : undefined
  // Labels that were invalid before do not block other changes.
  if (now.faults.length && (!before || messages(before) !== messages(now)))
    throw invalid(resource.groupKind, name, now.faults)
  if (before && !mayRejectMore(now.policy.enforce, before.policy.enforce)) return
  if (exempt.namespaces.has(name)) return warnOfExemption(attributes, now.policy, defaults)
  return before ? warnOfExisting(attributes, now.policy.enforce, sources) : undefined
}

const messages = ({ faults }: ReadPolicy): string => JSON.stringify(faults)

/** True if pods that the previous level allowed may violate the new one. */
const mayRejectMore = (enforce: LevelVersion, before: LevelVersion): boolean =>
  !isSame(enforce, before) &&
  enforce.level !== 'privileged' &&
  (enforce.version !== before.version || compareLevels(enforce.level, before.level) > 0)

function warnOfExemption({ object, name, warn }: AdmissionAttributes, policy: Policy, defaults: Policy): void {
  if (isFullyPrivileged(policy) || modes.every((mode) => isSame(policy[mode], defaults[mode]))) return
  const labels = object?.metadata.labels
  const labelledModes = modes.filter(
    (mode) =>
      policy[mode].level !== 'privileged' &&
      (labels?.[annotationKey(mode)] ?? labels?.[annotationKey(`${mode}-version`)]),
  )
  const policyText = labelledModes.map((mode) => `${mode}=${standardText(policy[mode])}`).join(', ')
  warn(`namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${policyText}) will be ignored`)
}

async function warnOfExisting(
  { name, warn }: AdmissionAttributes,
  enforce: LevelVersion,
  { registry, pods, configuration: { exempt } }: NamespaceSources,
): Promise<void> {
  const view = await registry.cacher(pods).ready()
  const isExempt = ({ spec }: Pod): boolean => exempt.runtimeClasses.has(spec?.runtimeClassName ?? '')
  const stored = view.objects.slice(pods.range(name))
  for (const text of await existingPodWarnings({ namespace: name, enforce, pods: stored, isExempt })) warn(text)
}
