/** MutatingAdmissionPolicy: mutates objects by policies in CEL (KEP-3962). */

import { schemaOf } from '../../../api/schema/index.ts'
import { matchConditions } from '../../../cel/admission/match-conditions.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { StructType } from '../../../machinery/schema.ts'
import { StatusError, statusOf } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import { AuthorizationChecks, authorizerBindings, evaluateWithChecks } from '../matching/authorizer-variable.ts'
import { objectBinding, requestBindings } from '../matching/bindings.ts'
import { ReinvocationRound } from '../matching/reinvocation-round.ts'
import { typedObject } from '../matching/typed-object.ts'
import { inVersion, replaceContent, versioned } from '../matching/versions.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { boundPolicies, policyFault } from './bound-policies.ts'
import {
  compileMutating,
  evaluateMutation,
  type MutatingEvaluator,
  type MutatingSpec,
  type Mutation,
} from './mutating-evaluator.ts'
import { errorType, policyMetrics } from './policy-metrics.ts'
import { type Binding, type Policy, PolicySource } from './policy-source.ts'

type MutatingPolicy = Policy<MutatingEvaluator>

/** One policy with one binding and one parameter object. */
interface Invocation {
  readonly policy: MutatingPolicy
  readonly binding: Binding
  readonly param: KubeObject | undefined
  readonly resource: ServedResource
}

interface Failure {
  readonly policy: MutatingPolicy
  readonly binding?: Binding
  readonly message: string
  readonly reason?: string
}

const pluginName = 'MutatingAdmissionPolicy'

export function mutatingPolicies(sources: PluginSources): AdmissionPlugin {
  const { registry, authorizer } = sources
  const source = new PolicySource<MutatingSpec, MutatingEvaluator>(sources, {
    policies: 'mutatingadmissionpolicies',
    bindings: 'mutatingadmissionpolicybindings',
    compile: compileMutating,
  })
  const metrics = policyMetrics(sources.metrics, 'mutating')
  return {
    name: pluginName,
    handles: ['CREATE', 'UPDATE', 'CONNECT'],
    start: () => source.start(),
    stop: () => source.stop(),
    mutate(attributes) {
      const { index } = source
      if (index.empty) return
      if (index.candidates(attributes).length > 0) return dispatch(attributes)
    },
  }

  async function dispatch(attributes: AdmissionAttributes): Promise<void> {
    const failures: Failure[] = []
    const invocations: Invocation[] = []
    for await (const bound of boundPolicies(source, registry, attributes)) {
      const { policy, binding } = bound
      if ('fault' in bound) failures.push({ policy, binding, message: bound.fault })
      else
        for (const param of bound.params)
          invocations.push({ policy, binding: bound.binding, param, resource: bound.resource })
    }
    if (invocations.length > 0) await invoke(invocations, attributes, failures)
    const denials = failures.filter(({ policy }) => !policy.ignoresFailures)
    if (denials.length > 0) throw refusal(attributes, denials)
  }

  async function invoke(
    invocations: readonly Invocation[],
    attributes: AdmissionAttributes,
    failures: Failure[],
  ): Promise<void> {
    const reinvoked = new ReinvocationRound(pluginName, attributes)
    const questions = new AuthorizationChecks(authorizer)
    const namespace = await source.matcher.namespaceObject(attributes)
    let isChanged = false
    for (const invocation of invocations) {
      const { policy, binding, param } = invocation
      const key = `${policy.name}/${binding.name}/${param?.metadata.namespace ?? ''}/${param?.metadata.name ?? ''}`
      if (!reinvoked.isDue(key)) continue
      const before = structuredClone(attributes.object)
      if (!(await apply(invocation, attributes, namespace, questions, failures))) continue
      if (!jsonEqual(before, attributes.object)) {
        isChanged = true
        reinvoked.objectChanged()
      }
      if (policy.compiled.reinvocationPolicy === 'IfNeeded') reinvoked.allowReinvocation(key)
    }
    // As upstream, the last policy is reinvoked too, even if it made the only change.
    if (isChanged) reinvoked.objectChanged()
    reinvoked.end()
  }

  /** Applies the mutations one after the other. Returns false if the match conditions exclude the request. */
  async function apply(
    { policy, binding, param, resource }: Invocation,
    attributes: AdmissionAttributes,
    namespace: KubeObject | undefined,
    questions: AuthorizationChecks,
    failures: Failure[],
  ): Promise<boolean> {
    const evaluator = policy.compiled
    const fail = (message: string): void => void failures.push({ policy, binding, message, reason: 'Invalid' })
    const bindingsOf = async () => {
      const objects = await versioned(attributes, resource)
      const request = requestBindings(attributes, objects, namespace)
      return {
        objects,
        bindings: { ...request, ...authorizerBindings(questions, attributes), params: objectBinding(param) },
      }
    }
    const first = await bindingsOf().catch((error) => void failures.push({ policy, message: policyFault(error) }))
    if (!first) return false
    const { conditions } = evaluator
    if (conditions) {
      const begin = performance.now()
      const match = await evaluateWithChecks(() => matchConditions(conditions, first.bindings))
      metrics.conditions.evaluated(policy.name, attributes.operation, (performance.now() - begin) / 1000, match.faults)
      if ('error' in match) fail(match.error)
      if ('error' in match || !match.matches) return false
    }
    for (const [at, mutation] of evaluator.mutations.entries()) {
      const { objects, bindings } = at === 0 ? first : await bindingsOf()
      if (!objects.object || !attributes.object) continue
      const begin = performance.now()
      const counted = (failed: boolean, message: string, action: string): void =>
        metrics.checked(
          policy.name,
          binding.name,
          errorType(failed, message),
          action,
          (performance.now() - begin) / 1000,
        )
      try {
        const patched = await mutated(mutation, evaluator, objects.object, bindings, typeOf(attributes, resource))
        const object =
          mutation.patchType === 'JSONPatch'
            ? typedStrictly(attributes, resource, patched, objects.object)
            : typedObject(attributes, resource, patched, objects.object)
        const shown = attributes.kind ? object : await inVersion(object, resource, attributes.resource)
        replaceContent(attributes.object, shown!)
        counted(false, '', 'allow')
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        counted(true, message, 'deny')
        if (error instanceof StatusError) throw error
        fail(message)
      }
    }
    return true
  }
}

async function mutated(
  mutation: Mutation,
  evaluator: MutatingEvaluator,
  object: KubeObject,
  bindings: Parameters<typeof evaluateMutation>[2],
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
