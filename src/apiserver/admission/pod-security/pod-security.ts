/**
 * PodSecurity: evaluates pods against the level of the Pod Security Standards that the labels of their namespace select
 * (KEP-2579). The enforce mode applies to pods only; pod templates are warned of and audited.
 */
import type { Pod, PodSpec } from '../../../api/core/pod/model.ts'
import { after } from '../../../lib/flow/after.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { invalid, StatusError } from '../../../machinery/status-error.ts'
import { FollowedObjects } from '../../registry/followed/followed-objects.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { type TemplatePlace, templatePlaces } from '../pods/pod-templates.ts'
import type { CheckedPod, Violation } from './checks/check.ts'
import { podSecurityConfiguration } from './configuration.ts'
import { detailsOf, evaluatePod } from './evaluator.ts'
import { existingPodWarnings } from './existing-pods.ts'
import { podSecurityMetrics } from './metrics.ts'
import {
  annotationKey,
  compareLevels,
  isFullyPrivileged,
  isSame,
  type LevelVersion,
  modes,
  type ReadPolicy,
  readPolicy,
  standardText,
} from './policy.ts'
import { isSignificantUpdate } from './significant-update.ts'

/** These change no checked field, or do not write a pod. */
const ignoredSubresources: ReadonlySet<string> = new Set([
  'exec',
  'attach',
  'binding',
  'eviction',
  'log',
  'portforward',
  'proxy',
  'status',
])

/** The policy of a namespace as the plug-in caches it. */
interface CachedPolicy extends ReadPolicy {
  /** True if all modes are privileged: nothing has to be evaluated. */
  readonly isFree: boolean
}

export function podSecurity({
  registry,
  find,
  configuration,
  metrics: registered,
  log,
}: PluginSources): AdmissionPlugin {
  const { defaults, exempt } = podSecurityConfiguration(configuration('PodSecurity'))
  const namespaces = find('v1/namespaces')
  const pods = find('v1/pods')
  const templates = templatePlaces(find)
  const metrics = podSecurityMetrics(registered)
  const cachedPolicy = (labels: Readonly<Record<string, string>> | undefined): CachedPolicy => {
    const read = readPolicy(labels, defaults)
    return { ...read, isFree: read.faults.length === 0 && isFullyPrivileged(read.policy) }
  }
  // The summary has the labels without parsing the object: all namespaces are followed.
  const followed = new FollowedObjects<CachedPolicy>({
    registry,
    resource: namespaces,
    read: ({ summary }) => cachedPolicy(summary.labels),
    log,
  })

  return {
    name: 'PodSecurity',
    handles: ['CREATE', 'UPDATE'],
    validate(attributes) {
      const { resource, subresource } = attributes
      if (resource === pods) return ignoredSubresources.has(subresource) ? undefined : validatePod(attributes)
      if (resource === namespaces) return subresource ? undefined : validateNamespace(attributes)
      const place = templates.get(resource)
      return place && !subresource ? validateTemplate(attributes, place) : undefined
    },
    start: () => followed.start(),
    stop: () => followed.stop(),
  }

  function validatePod(attributes: AdmissionAttributes): void | Promise<void> {
    if (isExempt(attributes)) return
    return after(policyOf(attributes), (found) => {
      if (!found) {
        metrics.failed(true, attributes)
        const { message, notFound } = unknownNamespace(attributes)
        attributes.annotate(annotationKey('error'), `Internal error occurred: ${message}: ${notFound}`)
        throw new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })
      }
      if (found.isFree) {
        attributes.annotate(annotationKey('enforce-policy'), standardText(found.policy.enforce))
        metrics.evaluated('allow', found.policy.enforce, 'enforce', attributes)
        return
      }
      const { object, old, operation } = attributes
      if (!isPod(object) || (operation === 'UPDATE' && isPod(old) && !isSignificantUpdate(object, old))) return
      evaluate(attributes, found, { annotations: object.metadata.annotations ?? {}, spec: object.spec }, true)
    })
  }

  function validateTemplate(attributes: AdmissionAttributes, place: TemplatePlace): void | Promise<void> {
    if (isExempt(attributes)) return
    return after(policyOf(attributes), (found) => {
      if (!found) {
        metrics.failed(true, attributes)
        const { message, notFound } = unknownNamespace(attributes)
        attributes.annotate(annotationKey('error'), `${message}: ${notFound}`)
        return
      }
      const { policy, faults, isFree } = found
      if (isFree || !attributes.object) return
      if (faults.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return
      const template = place.of(attributes.object)
      if (template?.spec)
        evaluate(attributes, found, { annotations: template.metadata?.annotations ?? {}, spec: template.spec }, false)
    })
  }

  function evaluate(
    attributes: AdmissionAttributes,
    { policy, faults }: CachedPolicy,
    pod: CheckedPod,
    enforces: boolean,
  ): void {
    const { annotate } = attributes
    if (pod.spec.runtimeClassName && exempt.runtimeClasses.has(pod.spec.runtimeClassName)) {
      annotate(annotationKey('exempt'), 'runtimeClass')
      metrics.exempted(attributes)
      return
    }
    if (faults.length) {
      annotate(
        annotationKey('error'),
        `Failed to parse policy: ${aggregate(faults.map(({ field, message }) => `${field}: ${message}`))}`,
      )
      metrics.failed(false, attributes)
    }
    // Evaluates each standard once, even if several modes use it.
    const known = new Map<string, readonly Violation[]>()
    const violationsOf = (standard: LevelVersion): readonly Violation[] => {
      const name = standardText(standard)
      const violations = known.get(name) ?? evaluatePod(standard, pod)
      known.set(name, violations)
      return violations
    }
    const audited = violationsOf(policy.audit)
    if (audited.length) {
      metrics.evaluated('deny', policy.audit, 'audit', attributes)
      annotate(
        annotationKey('audit-violations'),
        `would violate PodSecurity ${JSON.stringify(standardText(policy.audit))}: ${detailsOf(audited)}`,
      )
    }
    if (enforces) {
      annotate(annotationKey('enforce-policy'), standardText(policy.enforce))
      const violations = violationsOf(policy.enforce)
      metrics.evaluated(violations.length ? 'deny' : 'allow', policy.enforce, 'enforce', attributes)
      if (violations.length)
        throw forbiddenWrite(
          attributes,
          `violates PodSecurity ${JSON.stringify(standardText(policy.enforce))}: ${detailsOf(violations)}`,
        )
    }
    const warned = violationsOf(policy.warn)
    if (warned.length) {
      metrics.evaluated('deny', policy.warn, 'warn', attributes)
      attributes.warn(`would violate PodSecurity ${JSON.stringify(standardText(policy.warn))}: ${detailsOf(warned)}`)
    }
  }

  function validateNamespace({ operation, object, old, name, warn }: AdmissionAttributes): void | Promise<void> {
    if (!object) return
    const { labels } = object.metadata
    const { policy, faults } = readPolicy(labels, defaults)
    const before = operation === 'UPDATE' ? readPolicy(old?.metadata.labels, defaults) : undefined
    // Labels that were invalid before do not block other changes.
    if (faults.length && (!before || messages(before) !== messages({ policy, faults })))
      throw invalid(namespaces.groupKind, name, faults)
    if (before) {
      const { enforce } = policy
      if (isSame(enforce, before.policy.enforce) || enforce.level === 'privileged') return
      if (
        enforce.version === before.policy.enforce.version &&
        compareLevels(enforce.level, before.policy.enforce.level) < 1
      )
        return
    }
    if (exempt.namespaces.has(name)) {
      if (isFullyPrivileged(policy) || modes.every((mode) => isSame(policy[mode], defaults[mode]))) return
      const labelledModes = modes.filter(
        (mode) =>
          policy[mode].level !== 'privileged' &&
          (labels?.[annotationKey(mode)] ?? labels?.[annotationKey(`${mode}-version`)]),
      )
      const policyText = labelledModes.map((mode) => `${mode}=${standardText(policy[mode])}`).join(', ')
      warn(
        `namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${policyText}) will be ignored`,
      )
      return
    }
    return before ? warnOfExisting(name, policy.enforce, warn) : undefined
  }

  async function warnOfExisting(namespace: string, enforce: LevelVersion, warn: (text: string) => void): Promise<void> {
    const view = await registry.cacher(pods).ready()
    const isPodExempt = ({ spec }: Pod): boolean => exempt.runtimeClasses.has(spec?.runtimeClassName ?? '')
    for (const text of await existingPodWarnings({
      namespace,
      enforce,
      pods: view.objects.slice(pods.range(namespace)),
      isExempt: isPodExempt,
    }))
      warn(text)
  }

  function isExempt(attributes: AdmissionAttributes): boolean {
    const why = exempt.namespaces.has(attributes.namespace)
      ? 'namespace'
      : exempt.usernames.has(attributes.user.name)
        ? 'user'
        : undefined
    if (why === undefined) return false
    attributes.annotate(annotationKey('exempt'), why)
    metrics.exempted(attributes)
    return true
  }

  /** Returns undefined for a missing namespace. One created just now may not have been observed yet. */
  function policyOf({ namespace }: AdmissionAttributes): CachedPolicy | undefined | Promise<CachedPolicy | undefined> {
    return (
      followed.get('', namespace) ??
      after(
        registry.get(namespaces, namespaces.key('', namespace)),
        (found) => found && cachedPolicy(found.summary.labels),
      )
    )
  }
}

const unknownNamespace = ({ namespace }: AdmissionAttributes) => ({
  message: `failed to lookup namespace ${JSON.stringify(namespace)}`,
  notFound: `namespaces ${JSON.stringify(namespace)} not found`,
})

const isPod = (object: KubeObject | undefined): object is Pod & { spec: PodSpec } =>
  object !== undefined && 'spec' in object && object.spec !== undefined

const messages = ({ faults }: ReadPolicy): string => JSON.stringify(faults)

const aggregate = (texts: readonly string[]): string => (texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
