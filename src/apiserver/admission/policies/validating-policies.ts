/** ValidatingAdmissionPolicy: validates writes by policies in CEL (KEP-3488). */
import { matchConditions } from '../../../cel/admission/match-conditions.ts'
import type { Bindings } from '../../../cel/index.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import { AuthorizationChecks, authorizerBindings, evaluateWithChecks } from '../matching/authorizer-variable.ts'
import { objectBinding, requestBindings } from '../matching/bindings.ts'
import { type VersionedObjects, versioned } from '../matching/versions.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { type AuditAnnotations, auditAnnotations, validationFailure } from './audit-annotations.ts'
import { type BoundPolicy, bindingFault, boundPolicies } from './bound-policies.ts'
import { errorType, policyMetrics } from './policy-metrics.ts'
import { type Binding, type Policy, PolicySource } from './policy-source.ts'
import {
  compileValidating,
  type Decision,
  evaluateValidating,
  unmatched,
  type ValidatingEvaluator,
  type ValidatingSpec,
  type Verdict,
} from './validating-evaluator.ts'

type ValidatingPolicy = Policy<ValidatingEvaluator>

interface Denial {
  readonly policy: ValidatingPolicy
  readonly binding?: Binding
  readonly message: string
  readonly reason: string
}

export function validatingPolicies(sources: PluginSources): AdmissionPlugin {
  const { registry, authorizer } = sources
  const source = new PolicySource<ValidatingSpec, ValidatingEvaluator>(sources, {
    policies: 'validatingadmissionpolicies',
    bindings: 'validatingadmissionpolicybindings',
    compile: compileValidating,
  })
  const metrics = policyMetrics(sources.metrics, 'validating')
  return {
    name: 'ValidatingAdmissionPolicy',
    start: () => source.start(),
    stop: () => source.stop(),
    validate(attributes) {
      const { index } = source
      if (index.empty) return
      if (index.candidates(attributes).length > 0) return dispatch(attributes)
    },
  }

  async function dispatch(attributes: AdmissionAttributes): Promise<void> {
    const denials: Denial[] = []
    const questions = new AuthorizationChecks(authorizer)
    const annotations = auditAnnotations()
    const versions = new Map<ServedResource, Promise<VersionedObjects>>()
    for await (const bound of boundPolicies(source, registry, attributes)) {
      const { policy, binding } = bound
      const misconfigured = (message: string): void => {
        if (!policy.ignoresFailures) denials.push({ policy, binding, message, reason: '' })
      }
      if ('fault' in bound) misconfigured(bound.fault)
      else {
        const objects = await objectsIn(versions, bound.resource, attributes).catch((error) => {
          misconfigured(
            bindingFault(`failed to convert object version: ${error instanceof Error ? error.message : error}`),
          )
          return undefined
        })
        if (objects) denials.push(...(await evaluate(bound, attributes, objects, questions, annotations)))
      }
    }
    annotations.publish(attributes.annotate)
    if (denials.length > 0) throw refusal(attributes, denials[0]!)
  }

  /** Evaluates one policy with all parameters of one binding. */
  async function evaluate(
    { policy, binding, params }: BoundPolicy<ValidatingEvaluator>,
    attributes: AdmissionAttributes,
    objects: VersionedObjects,
    questions: AuthorizationChecks,
    annotations: AuditAnnotations,
  ): Promise<Denial[]> {
    const begin = performance.now()
    const request = requestBindings(attributes, objects, await source.matcher.namespaceObject(attributes))
    const authorizes = authorizerBindings(questions, attributes)
    const verdicts: Verdict[] = []
    for (const param of params) {
      const bindings = { ...request, params: objectBinding(param) }
      const excluded = await conditionVerdict(policy, { ...bindings, ...authorizes }, attributes)
      verdicts.push(
        excluded ?? (await evaluateWithChecks(() => evaluateValidating(policy.compiled, bindings, authorizes))),
      )
    }
    const seconds = (performance.now() - begin) / 1000
    return verdicts.flatMap((verdict) => {
      const denials = enforce(policy, binding, attributes, verdict, seconds)
      for (const annotation of verdict.annotations) {
        if ('value' in annotation) annotations.add(policy.name, annotation.key, annotation.value)
        else {
          const { error: message } = annotation
          metrics.checked(policy.name, binding.name, errorType(true, message), 'deny', seconds)
          denials.push({ policy, binding, message, reason: '' })
        }
      }
      return denials
    })
  }

  /** Returns a verdict if the policy's match conditions fail or exclude the request. */
  async function conditionVerdict(
    { name, compiled }: ValidatingPolicy,
    bindings: Bindings,
    { operation }: AdmissionAttributes,
  ): Promise<Verdict | undefined> {
    const { conditions } = compiled
    if (!conditions) return undefined
    const begin = performance.now()
    const match = await evaluateWithChecks(() => matchConditions(conditions, bindings))
    metrics.conditions.evaluated(name, operation, (performance.now() - begin) / 1000, match.faults)
    return unmatched(compiled, match)
  }

  /** Applies the actions of the binding to denying decisions. */
  function enforce(
    policy: ValidatingPolicy,
    binding: Binding,
    { warn, annotate }: AdmissionAttributes,
    { decisions }: Verdict,
    seconds: number,
  ): Denial[] {
    const denials: Denial[] = []
    decisions.forEach((decision: Decision, at) => {
      const { action, failed, message, reason } = decision
      const counted = (what: string): void =>
        metrics.checked(policy.name, binding.name, errorType(failed, message), what, seconds)
      if (action === 'admit') {
        if (failed) counted('allow')
        return
      }
      for (const what of binding.spec.validationActions ?? []) {
        counted(what.toLowerCase())
        if (what === 'Deny') denials.push({ policy, binding, message, reason })
        else if (what === 'Audit') annotate(...validationFailure(policy.name, binding, at, message))
        else if (what === 'Warn')
          warn(
            `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ` +
              `${message}`,
          )
      }
    })
    return denials
  }
}

/** The objects in the version that a policy requires, converted once per version. */
function objectsIn(
  versions: Map<ServedResource, Promise<VersionedObjects>>,
  resource: ServedResource,
  attributes: AdmissionAttributes,
): Promise<VersionedObjects> {
  let objects = versions.get(resource)
  if (!objects) versions.set(resource, (objects = (async () => versioned(attributes, resource))()))
  return objects
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
