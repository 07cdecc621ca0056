/** Mutates the object of one write by all of its policies and bindings, one after the other. */

import { schemaOf } from '../../../../api/schema/index.ts'
import { matchConditions } from '../../../../cel/admission/match-conditions.ts'
import type { Bindings } from '../../../../cel/index.ts'
import { jsonEqual } from '../../../../machinery/fields/json.ts'
import type { KubeObject } from '../../../../machinery/object.ts'
import type { StructType } from '../../../../machinery/schema.ts'
import { StatusError, statusOf } from '../../../../machinery/status-error.ts'
import type { Authorizer } from '../../../authorization/authorizer.ts'
import type { Registry } from '../../../registry/registry.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import { AuthorizationChecks, authorizerBindings, evaluateWithChecks } from '../../matching/authorizer-variable.ts'
import { objectBinding, requestBindings } from '../../matching/bindings.ts'
import { ReinvocationRound } from '../../matching/reinvocation-round.ts'
import { typedObject } from '../../matching/typed-object.ts'
import { inVersion, replaceContent, type VersionedObjects, versioned } from '../../matching/versions.ts'
import { boundPolicies, policyFault } from '../bound-policies.ts'
import { errorType, type PolicyMetrics } from '../policy-metrics.ts'
import type { Binding, Policy, PolicySource } from '../policy-source.ts'
import { evaluateMutation, type MutatingEvaluator, type MutatingSpec, type Mutation } from './mutating-evaluator.ts'

export interface MutationSources {
  /** The name of the plug-in, under which the rounds of a write are stored. */
  readonly plugin: string
  readonly source: PolicySource<MutatingSpec, MutatingEvaluator>
  readonly registry: Registry
  readonly authorizer: Authorizer
  readonly metrics: PolicyMetrics
}

type MutatingPolicy = Policy<MutatingEvaluator>

/** One policy with one binding and one parameter object. */
interface Invocation {
  readonly policy: MutatingPolicy
  readonly binding: Binding
  readonly param: KubeObject | undefined
  readonly resource: ServedResource
}

/** The current objects, as a policy receives them. */
interface Input {
  readonly objects: VersionedObjects
  readonly bindings: Bindings
}

interface Failure {
  readonly policy: MutatingPolicy
  readonly binding?: Binding
  readonly message: string
  readonly reason?: string
}

export class PolicyMutation {
  readonly #attributes: AdmissionAttributes
  readonly #sources: MutationSources
  readonly #checks: AuthorizationChecks
  readonly #failures: Failure[] = []

  constructor(attributes: AdmissionAttributes, sources: MutationSources) {
    this.#attributes = attributes
    this.#sources = sources
    this.#checks = new AuthorizationChecks(sources.authorizer)
  }

  /** Rejects with a StatusError if a policy fails whose failure policy is Fail. */
  async run(): Promise<void> {
    const invocations = await this.#invocations()
    if (invocations.length > 0) await this.#invoke(invocations)
    const denials = this.#failures.filter(({ policy }) => !policy.ignoresFailures)
    if (denials.length > 0) throw refusal(this.#attributes, denials)
  }

  async #invocations(): Promise<readonly Invocation[]> {
    const { source, registry } = this.#sources
    const invocations: Invocation[] = []
    for await (const bound of boundPolicies(source, registry, this.#attributes)) {
      const { policy, binding } = bound
      if ('fault' in bound) this.#failures.push({ policy, binding, message: bound.fault })
      else
        for (const param of bound.params)
          invocations.push({ policy, binding: bound.binding, param, resource: bound.resource })
    }
    return invocations
  }

  async #invoke(invocations: readonly Invocation[]): Promise<void> {
    const attributes = this.#attributes
    const { plugin, source } = this.#sources
    const round = new ReinvocationRound(plugin, attributes)
    const namespace = await source.matcher.namespaceObject(attributes)
    let isChanged = false
    for (const invocation of invocations) {
      const { policy, binding, param } = invocation
      const key = `${policy.name}/${binding.name}/${param?.metadata.namespace ?? ''}/${param?.metadata.name ?? ''}`
      if (!round.isDue(key)) continue
      const before = structuredClone(attributes.object)
      if (!(await this.#apply(invocation, namespace))) continue
      if (!jsonEqual(before, attributes.object)) {
        isChanged = true
        round.objectChanged()
      }
      if (policy.compiled.reinvocationPolicy === 'IfNeeded') round.allowReinvocation(key)
    }
    // As upstream, the last policy is reinvoked too, even if it made the only change.
    if (isChanged) round.objectChanged()
    round.end()
  }

  /** Applies the mutations one after the other. Returns false if the match conditions exclude the request. */
  async #apply(invocation: Invocation, namespace: KubeObject | undefined): Promise<boolean> {
    const { policy } = invocation
    const first = await this.#input(invocation, namespace).catch(
      (error) => void this.#failures.push({ policy, message: policyFault(error) }),
    )
    if (!first || !(await this.#matches(invocation, first.bindings))) return false
    for (const [index, mutation] of policy.compiled.mutations.entries())
      await this.#mutate(invocation, mutation, index === 0 ? first : await this.#input(invocation, namespace))
    return true
  }

  async #input({ param, resource }: Invocation, namespace: KubeObject | undefined): Promise<Input> {
    const attributes = this.#attributes
    const objects = await versioned(attributes, resource)
    const request = requestBindings(attributes, objects, namespace)
    const authorizes = authorizerBindings(this.#checks, attributes)
    return { objects, bindings: { ...request, ...authorizes, params: objectBinding(param) } }
  }

  /** Evaluates the match conditions. Their errors are failures of the policy. */
  async #matches(invocation: Invocation, bindings: Bindings): Promise<boolean> {
    const { name, compiled } = invocation.policy
    const { conditions } = compiled
    if (!conditions) return true
    const started = performance.now()
    const match = await evaluateWithChecks(() => matchConditions(conditions, bindings))
    const seconds = (performance.now() - started) / 1000
    this.#sources.metrics.conditions.evaluated(name, this.#attributes.operation, seconds, match.faults)
    if ('error' in match) this.#addFailure(invocation, match.error)
    return !('error' in match) && match.matches
  }

  async #mutate(invocation: Invocation, mutation: Mutation, { objects, bindings }: Input): Promise<void> {
    const { policy, binding, resource } = invocation
    const attributes = this.#attributes
    if (!objects.object || !attributes.object) return
    const started = performance.now()
    const observe = (failed: boolean, message: string, action: string): void => {
      const seconds = (performance.now() - started) / 1000
      this.#sources.metrics.checked(policy.name, binding.name, errorType(failed, message), action, seconds)
    }
    try {
      const type = typeOf(attributes, resource)
      const patched = await mutated(mutation, policy.compiled, objects.object, bindings, type)
      const object =
        mutation.patchType === 'JSONPatch'
          ? typedStrictly(attributes, resource, patched, objects.object)
          : typedObject(attributes, resource, patched, objects.object)
      const result = attributes.kind ? object : await inVersion(object, resource, attributes.resource)
      replaceContent(attributes.object, result!)
      observe(false, '', 'allow')
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      observe(true, message, 'deny')
      if (error instanceof StatusError) throw error
      this.#addFailure(invocation, message)
    }
  }

  #addFailure({ policy, binding }: Invocation, message: string): void {
    this.#failures.push({ policy, binding, message, reason: 'Invalid' })
  }
}

async function mutated(
  mutation: Mutation,
  evaluator: MutatingEvaluator,
  object: KubeObject,
  bindings: Bindings,
  type: StructType,
): Promise<KubeObject> {
  const change = await evaluateWithChecks(() => evaluateMutation(evaluator, mutation, bindings))
  return change(structuredClone(object), type)
}

/**
 * A JSON patch must give a valid object without unknown fields. Otherwise the request fails even if the failure policy
 * is Ignore.
 */
function typedStrictly(...[attributes, resource, patched, before]: Parameters<typeof typedObject>): KubeObject {
  try {
    return typedObject(attributes, resource, patched, before, { strict: true })
  } catch (error) {
    throw statusOf(error)
  }
}

/** The schema of the object. A subresource may have a kind of its own. */
function typeOf({ kind }: AdmissionAttributes, resource: ServedResource): StructType {
  const type = kind ? schemaOf(kind) : resource.type
  if (type) return type
  const { group, version, kind: name } = kind!
  throw new StatusError(
    503,
    'ServiceUnavailable',
    `Resource kind ${group}/${version}, Kind=${name} not found. There can be a delay between when ` +
      'CustomResourceDefinitions are created and when they are available.',
  )
}

function refusal(attributes: AdmissionAttributes, failures: readonly Failure[]): StatusError {
  const messages = failures.map(({ policy, binding, message }) =>
    binding
      ? `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`
      : `policy '${policy.name}' denied request: ${message}`,
  )
  const { code, status } = forbiddenWrite(attributes, 'admission request denied by policy')
  return new StatusError(code, failures[0]?.reason ?? status.reason, messages[0]!, {
    ...status.details,
    causes: messages.map((message) => ({ message })),
  })
}
