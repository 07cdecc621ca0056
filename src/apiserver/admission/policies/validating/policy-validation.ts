/** Validates one write by all of its policies and bindings. */
import { matchConditions } from '../../../../cel/admission/match-conditions.ts'
import type { Bindings } from '../../../../cel/index.ts'
import { StatusError } from '../../../../machinery/status-error.ts'
import type { Authorizer } from '../../../authorization/authorizer.ts'
import type { Registry } from '../../../registry/registry.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import { AuthorizationChecks, authorizerBindings, evaluateWithChecks } from '../../matching/authorizer-variable.ts'
import { objectBinding, requestBindings } from '../../matching/bindings.ts'
import { type VersionedObjects, versioned } from '../../matching/versions.ts'
import { type BoundPolicy, bindingFault, boundPolicies } from '../bound-policies.ts'
import { errorType, type PolicyMetrics } from '../policy-metrics.ts'
import type { Binding, Policy, PolicySource } from '../policy-source.ts'
import { auditAnnotations, validationFailure } from './audit-annotations.ts'
import {
  type Decision,
  evaluateValidating,
  unmatched,
  type ValidatingEvaluator,
  type ValidatingSpec,
  type Verdict,
} from './validating-evaluator.ts'

export interface ValidationSources {
  readonly source: PolicySource<ValidatingSpec, ValidatingEvaluator>
  readonly registry: Registry
  readonly authorizer: Authorizer
  readonly metrics: PolicyMetrics
}

type ValidatingPolicy = Policy<ValidatingEvaluator>

interface Denial {
  readonly policy: ValidatingPolicy
  readonly binding?: Binding
  readonly message: string
  readonly reason: string
}

export class PolicyValidation {
  readonly #attributes: AdmissionAttributes
  readonly #sources: ValidationSources
  readonly #checks: AuthorizationChecks
  readonly #annotations = auditAnnotations()
  /** The objects in the version that a policy requires, converted once per version. */
  readonly #versions = new Map<ServedResource, Promise<VersionedObjects>>()
  readonly #denials: Denial[] = []

  constructor(attributes: AdmissionAttributes, sources: ValidationSources) {
    this.#attributes = attributes
    this.#sources = sources
    this.#checks = new AuthorizationChecks(sources.authorizer)
  }

  /** Rejects with a StatusError if a policy denies the write. */
  async run(): Promise<void> {
    const { source, registry } = this.#sources
    for await (const bound of boundPolicies(source, registry, this.#attributes)) {
      const { policy, binding } = bound
      if ('fault' in bound) this.#misconfigured(policy, binding, bound.fault)
      else {
        const objects = await this.#objectsFor(bound)
        if (objects) await this.#evaluate(bound, objects)
      }
    }
    this.#annotations.publish(this.#attributes.annotate)
    const [denial] = this.#denials
    if (denial) throw refusal(this.#attributes, denial)
  }

  #misconfigured(policy: ValidatingPolicy, binding: Binding | undefined, message: string): void {
    if (!policy.ignoresFailures) this.#denials.push({ policy, binding, message, reason: '' })
  }

  /** Resolves with undefined if a conversion fails. */
  async #objectsFor({ policy, binding, resource }: BoundPolicy<ValidatingEvaluator>) {
    let objects = this.#versions.get(resource)
    if (!objects) this.#versions.set(resource, (objects = (async () => versioned(this.#attributes, resource))()))
    try {
      return await objects
    } catch (error) {
      const why = error instanceof Error ? error.message : error
      this.#misconfigured(policy, binding, bindingFault(`failed to convert object version: ${why}`))
      return undefined
    }
  }

  /** Evaluates one policy with all parameters of one binding. */
  async #evaluate(
    { policy, binding, params }: BoundPolicy<ValidatingEvaluator>,
    objects: VersionedObjects,
  ): Promise<void> {
    const attributes = this.#attributes
    const begin = performance.now()
    const namespace = await this.#sources.source.matcher.namespaceObject(attributes)
    const request = requestBindings(attributes, objects, namespace)
    const authorizes = authorizerBindings(this.#checks, attributes)
    const verdicts: Verdict[] = []
    for (const param of params) {
      const bindings = { ...request, params: objectBinding(param) }
      const excluded = await this.#conditionVerdict(policy, { ...bindings, ...authorizes })
      verdicts.push(
        excluded ?? (await evaluateWithChecks(() => evaluateValidating(policy.compiled, bindings, authorizes))),
      )
    }
    const seconds = (performance.now() - begin) / 1000
    for (const verdict of verdicts) {
      this.#enforce(policy, binding, verdict, seconds)
      this.#annotate(policy, binding, verdict, seconds)
    }
  }

  /** Returns a verdict if the policy's match conditions fail or exclude the request. */
  async #conditionVerdict({ name, compiled }: ValidatingPolicy, bindings: Bindings): Promise<Verdict | undefined> {
    const { conditions } = compiled
    if (!conditions) return undefined
    const begin = performance.now()
    const match = await evaluateWithChecks(() => matchConditions(conditions, bindings))
    const seconds = (performance.now() - begin) / 1000
    this.#sources.metrics.conditions.evaluated(name, this.#attributes.operation, seconds, match.faults)
    return unmatched(compiled, match)
  }

  /** Applies the actions of the binding to denying decisions. */
  #enforce(policy: ValidatingPolicy, binding: Binding, { decisions }: Verdict, seconds: number): void {
    const { warn, annotate } = this.#attributes
    decisions.forEach((decision: Decision, at) => {
      const { action, failed, message, reason } = decision
      const counted = (what: string): void =>
        this.#sources.metrics.checked(policy.name, binding.name, errorType(failed, message), what, seconds)
      if (action === 'admit') {
        if (failed) counted('allow')
        return
      }
      for (const what of binding.spec.validationActions ?? []) {
        counted(what.toLowerCase())
        if (what === 'Deny') this.#denials.push({ policy, binding, message, reason })
        else if (what === 'Audit') annotate(...validationFailure(policy.name, binding, at, message))
        else if (what === 'Warn')
          warn(
            `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ` +
              `${message}`,
          )
      }
    })
  }

  #annotate(policy: ValidatingPolicy, binding: Binding, { annotations }: Verdict, seconds: number): void {
    for (const annotation of annotations) {
      if ('value' in annotation) this.#annotations.add(policy.name, annotation.key, annotation.value)
      else {
        const { error: message } = annotation
        this.#sources.metrics.checked(policy.name, binding.name, errorType(true, message), 'deny', seconds)
        this.#denials.push({ policy, binding, message, reason: '' })
      }
    }
  }
}

const codes: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

function refusal(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): StatusError {
  const bound = binding ? ` with binding '${binding.name}'` : ''
  const denial = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${message}`
  const { status } = forbiddenWrite(attributes, denial)
  const why = reason || 'Invalid'
  return new StatusError(codes[why] ?? 422, why, status.message!, { ...status.details, causes: [{ message: denial }] })
}
