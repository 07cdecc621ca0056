/** ValidatingAdmissionPolicy: holds what is written against policies in CEL (KEP-3488). */
import { forbidden, StatusError } from '../../../machinery/status-error.ts'
import { authorizerBindings, Questions, whenAnswered } from '../matching/asking-authorizer.ts'
import { objectBinding, requestBindings } from '../matching/bindings.ts'
import { type VersionedObjects, versioned } from '../matching/versions.ts'
import type { AdmissionAttributes, AdmissionPlugin, PluginSources } from '../plugin.ts'
import { auditAnnotations, validationFailure } from './audit-annotations.ts'
import { collectParams } from './params.ts'
import { errorType, policyMetrics } from './policy-metrics.ts'
import { type Binding, type Policy, PolicySource } from './policy-source.ts'
import { compileValidating, type Decision, evaluateValidating, type ValidatingEvaluator, type ValidatingSpec, type Verdict } from './validating-evaluator.ts'

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
    const { index } = source
    const denials: Denial[] = []
    const questions = new Questions(authorizer)
    for (const candidate of index.candidates(attributes)) {
      const meant = await index.meant(candidate, attributes)
      if (meant) denials.push(...(await holdPolicy(meant.value, attributes, await versioned(attributes, meant.resource), questions)))
    }
    if (denials.length > 0) throw refusal(attributes, denials[0]!)
  }

  async function holdPolicy(policy: ValidatingPolicy, attributes: AdmissionAttributes, objects: VersionedObjects, questions: Questions): Promise<Denial[]> {
    const misconfigured = (what: string, why: string, binding?: Binding): Denial[] =>
      policy.ignoresFailures ? [] : [{ policy, binding, message: `failed to configure ${what}: ${why}`, reason: '' }]
    if (policy.fault) return misconfigured('policy', policy.fault)
    const denials: Denial[] = []
    const annotations = auditAnnotations(policy.name)
    for (const binding of policy.bindings) {
      try {
        if (!(await isBound(binding, attributes))) continue
        const begin = performance.now()
        for (const verdict of await verdicts(policy, binding, attributes, objects, questions)) {
          const seconds = (performance.now() - begin) / 1000
          denials.push(...enforce(policy, binding, attributes, verdict, seconds))
          for (const annotation of verdict.annotations) {
            if ('value' in annotation) annotations.add(annotation.key, annotation.value)
            else denials.push({ policy, binding, message: annotation.error, reason: '' })
          }
        }
      } catch (error) {
        if (error instanceof StatusError) throw error
        denials.push(...misconfigured('binding', error instanceof Error ? error.message : String(error), binding))
      }
    }
    annotations.publish(attributes.annotate)
    return denials
  }

  async function isBound({ match }: Binding, attributes: AdmissionAttributes): Promise<boolean> {
    if (!match) return true
    const { matcher } = source
    return matcher.resourceOf(match, attributes.resource, attributes) !== undefined && (await matcher.selects(match, attributes))
  }

  /** One for each of the binding's parameters. */
  async function verdicts(
    policy: ValidatingPolicy,
    binding: Binding,
    attributes: AdmissionAttributes,
    objects: VersionedObjects,
    questions: Questions,
  ): Promise<Verdict[]> {
    const params = await collectParams(registry, policy, binding, attributes.namespace)
    if (params.length === 0) return []
    const request = requestBindings(attributes, objects, await source.matcher.namespaceObject(attributes))
    const authorizes = authorizerBindings(questions, attributes)
    const found: Verdict[] = []
    for (const param of params) {
      const bindings = { ...request, params: objectBinding(param) }
      found.push(await whenAnswered(() => evaluateValidating(policy.compiled, bindings, authorizes)))
    }
    return found
  }

  /** Does what the binding says is to be done about decisions that deny. */
  function enforce(policy: ValidatingPolicy, binding: Binding, { warn, annotate }: AdmissionAttributes, { decisions }: Verdict, seconds: number): Denial[] {
    const denials: Denial[] = []
    decisions.forEach((decision: Decision, at) => {
      const { action, failed, message, reason } = decision
      const counted = (what: string): void => metrics.checked(policy.name, binding.name, errorType(failed, message), what, seconds)
      if (action === 'admit') {
        if (failed) counted('allow')
        return
      }
      for (const what of binding.spec.validationActions ?? []) {
        counted(what.toLowerCase())
        if (what === 'Deny') denials.push({ policy, binding, message, reason })
        else if (what === 'Audit') annotate(...validationFailure(policy.name, binding, at, message))
        else if (what === 'Warn') warn(`Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`)
      }
    })
    return denials
  }
}

const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 }

function refusal({ resource, name, object }: AdmissionAttributes, { policy, binding, message, reason }: Denial): StatusError {
  const bound = binding ? ` with binding '${binding.name}'` : ''
  const told = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${message}`
  const { status } = forbidden(resource.groupResource, name || (object?.metadata?.generateName ?? ''), told)
  const why = reason || 'Invalid'
  return new StatusError(codes[why] ?? 422, why, status.message!, { ...status.details, causes: [{ message: told }] })
}
