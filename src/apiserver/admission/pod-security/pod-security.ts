/**
 * PodSecurity: evaluates pods against the level of the Pod Security Standards that the labels of their namespace select
 * (KEP-2579). The enforce mode applies to pods only; pod templates are warned of and audited.
 */
import type { Pod, PodSpec } from '../../../api/core/pod/model.ts'
import { after } from '../../../lib/flow/after.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { type TemplatePlace, templatePlaces } from '../pods/pod-templates.ts'
import type { CheckedPod, Violation } from './checks/check.ts'
import { detailsOf, PodEvaluation } from './checks/evaluator.ts'
import { type PodSecurityMetrics, podSecurityMetrics } from './metrics.ts'
import { type PodSecurityConfiguration, podSecurityConfiguration } from './policy/configuration.ts'
import { type CachedPolicy, NamespacePolicies } from './policy/namespace-policies.ts'
import { annotationKey, type LevelVersion, standardText } from './policy/policy.ts'
import { isSignificantUpdate } from './significant-update.ts'
import { type NamespaceSources, validateNamespace } from './validate-namespace.ts'

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

export class PodSecurity implements AdmissionPlugin {
  readonly name = 'PodSecurity'
  readonly handles = ['CREATE', 'UPDATE'] as const
  readonly #exempt: PodSecurityConfiguration['exempt']
  readonly #pods: ServedResource
  readonly #namespaces: ServedResource
  readonly #templates: ReadonlyMap<ServedResource, TemplatePlace>
  readonly #policies: NamespacePolicies
  readonly #ofNamespaces: NamespaceSources
  readonly #metrics: PodSecurityMetrics

  /** Throws an ExplainedError for an invalid configuration. */
  constructor(sources: PluginSources) {
    const { registry, find, metrics } = sources
    const configuration = podSecurityConfiguration(sources.configuration('PodSecurity'))
    this.#exempt = configuration.exempt
    this.#pods = find('v1/pods')
    this.#namespaces = find('v1/namespaces')
    this.#templates = templatePlaces(find)
    this.#policies = new NamespacePolicies(sources, this.#namespaces, configuration.defaults)
    this.#ofNamespaces = { configuration, registry, pods: this.#pods }
    this.#metrics = podSecurityMetrics(metrics)
  }

  start(): Promise<void> {
    return this.#policies.start()
  }

  stop(): void {
    this.#policies.stop()
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    const { resource, subresource } = attributes
    if (resource === this.#pods) return ignoredSubresources.has(subresource) ? undefined : this.#validatePod(attributes)
    if (subresource) return
    if (resource === this.#namespaces) return validateNamespace(attributes, this.#ofNamespaces)
    const place = this.#templates.get(resource)
    return place ? this.#validateTemplate(attributes, place) : undefined
  }

  #validatePod(attributes: AdmissionAttributes): void | Promise<void> {
    if (this.#isExempt(attributes)) return
    return after(this.#policies.get(attributes.namespace), (found) => {
      if (!found) {
        this.#metrics.failed(true, attributes)
        const { message, notFound } = unknownNamespace(attributes)
        attributes.annotate(annotationKey('error'), `Internal error occurred: ${message}: ${notFound}`)
        throw new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })
      }
      if (found.isFree) {
        attributes.annotate(annotationKey('enforce-policy'), standardText(found.policy.enforce))
        this.#metrics.evaluated('allow', found.policy.enforce, 'enforce', attributes)
        return
      }
      const { object, old, operation } = attributes
      if (!isPod(object) || (operation === 'UPDATE' && isPod(old) && !isSignificantUpdate(object, old))) return
      this.#evaluate(attributes, found, { annotations: object.metadata.annotations ?? {}, spec: object.spec }, true)
    })
  }

  #validateTemplate(attributes: AdmissionAttributes, place: TemplatePlace): void | Promise<void> {
    if (this.#isExempt(attributes)) return
    return after(this.#policies.get(attributes.namespace), (found) => {
      if (!found) {
        this.#metrics.failed(true, attributes)
        const { message, notFound } = unknownNamespace(attributes)
        attributes.annotate(annotationKey('error'), `${message}: ${notFound}`)
        return
      }
      const { policy, faults, isFree } = found
      if (isFree || !attributes.object) return
      if (faults.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return
      const template = place.of(attributes.object)
      if (!template?.spec) return
      const { metadata, spec } = template
      this.#evaluate(attributes, found, { annotations: metadata?.annotations ?? {}, spec }, false)
    })
  }

  #isExempt(attributes: AdmissionAttributes): boolean {
    const { namespaces, usernames } = this.#exempt
    if (namespaces.has(attributes.namespace)) return this.#exemption(attributes, 'namespace')
    return usernames.has(attributes.user.name) && this.#exemption(attributes, 'user')
  }

  #exemption(attributes: AdmissionAttributes, why: 'namespace' | 'user' | 'runtimeClass'): true {
    attributes.annotate(annotationKey('exempt'), why)
    this.#metrics.exempted(attributes)
    return true
  }

  /** `enforces` is false for pod templates. */
  #evaluate(
    attributes: AdmissionAttributes,
    { policy, faults }: CachedPolicy,
    pod: CheckedPod,
    enforces: boolean,
  ): void {
    const { runtimeClassName } = pod.spec
    if (runtimeClassName && this.#exempt.runtimeClasses.has(runtimeClassName)) {
      this.#exemption(attributes, 'runtimeClass')
      return
    }
    if (faults.length) this.#reportFaults(attributes, faults)
    const evaluation = new PodEvaluation(pod)
    this.#audit(attributes, policy.audit, evaluation)
    if (enforces) this.#enforce(attributes, policy.enforce, evaluation)
    this.#warn(attributes, policy.warn, evaluation)
  }

  #reportFaults(attributes: AdmissionAttributes, faults: readonly FieldError[]): void {
    const texts = faults.map(({ field, message }) => `${field}: ${message}`)
    attributes.annotate(annotationKey('error'), `Failed to parse policy: ${aggregate(texts)}`)
    this.#metrics.failed(false, attributes)
  }

  #audit(attributes: AdmissionAttributes, standard: LevelVersion, evaluation: PodEvaluation): void {
    const violations = evaluation.violationsOf(standard)
    if (violations.length === 0) return
    this.#metrics.evaluated('deny', standard, 'audit', attributes)
    attributes.annotate(annotationKey('audit-violations'), `would violate ${violated(standard, violations)}`)
  }

  #enforce(attributes: AdmissionAttributes, standard: LevelVersion, evaluation: PodEvaluation): void {
    attributes.annotate(annotationKey('enforce-policy'), standardText(standard))
    const violations = evaluation.violationsOf(standard)
    this.#metrics.evaluated(violations.length ? 'deny' : 'allow', standard, 'enforce', attributes)
    if (violations.length) throw forbiddenWrite(attributes, `violates ${violated(standard, violations)}`)
  }

  #warn(attributes: AdmissionAttributes, standard: LevelVersion, evaluation: PodEvaluation): void {
    const violations = evaluation.violationsOf(standard)
    if (violations.length === 0) return
    this.#metrics.evaluated('deny', standard, 'warn', attributes)
    attributes.warn(`would violate ${violated(standard, violations)}`)
  }
}

const violated = (standard: LevelVersion, violations: readonly Violation[]): string =>
  `PodSecurity ${JSON.stringify(standardText(standard))}: ${detailsOf(violations)}`

const unknownNamespace = ({ namespace }: AdmissionAttributes) => ({
  message: `failed to lookup namespace ${JSON.stringify(namespace)}`,
  notFound: `namespaces ${JSON.stringify(namespace)} not found`,
})

const isPod = (object: KubeObject | undefined): object is Pod & { spec: PodSpec } =>
  object !== undefined && 'spec' in object && object.spec !== undefined

const aggregate = (texts: readonly string[]): string => (texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
