/**
 * The policies that match a request, with the matching bindings and their parameters. A configuration error is yielded
 * in place of its policy.
 */
import type { KubeObject } from '../../../machinery/object.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { collectParams } from './params.ts'
import type { Binding, Policy, PolicySource, PolicySpec } from './policy-source.ts'

/** A policy and binding to evaluate for the request. */
export interface BoundPolicy<Compiled> {
  readonly policy: Policy<Compiled>
  readonly binding: Binding
  /** The resource in whose version the policy receives the object. */
  readonly resource: ServedResource
  /** The parameters to evaluate with, one after the other; undefined means no parameters. */
  readonly params: readonly (KubeObject | undefined)[]
}

/** A policy whose match or parameters could not be determined: its failure policy decides. */
export interface Misconfigured<Compiled> {
  readonly policy: Policy<Compiled>
  /** Undefined if the policy itself is faulty. */
  readonly binding?: Binding
  readonly fault: string
}

/** In the order of policy names, then of binding names. */
export async function* boundPolicies<Spec extends PolicySpec, Compiled>(
  { index, matcher }: PolicySource<Spec, Compiled>,
  registry: Registry,
  attributes: AdmissionAttributes,
): AsyncGenerator<BoundPolicy<Compiled> | Misconfigured<Compiled>, void, void> {
  for (const candidate of index.candidates(attributes)) {
    const { value: policy } = candidate
    let matched: typeof candidate | undefined
    try {
      matched = await index.match(candidate, attributes)
    } catch (error) {
      yield { policy, fault: policyFault(error) }
    }
    if (!matched) continue
    if (policy.fault) {
      yield { policy, fault: policyFault(policy.fault) }
      continue
    }
    for (const binding of policy.bindings) {
      const { match } = binding
      let params: BoundPolicy<Compiled>['params'] = []
      try {
        const isMatch =
          !match ||
          (matcher.resourceOf(match, attributes.resource, attributes) !== undefined &&
            (await matcher.selects(match, attributes)))
        if (isMatch) params = await collectParams(registry, policy, binding, attributes.namespace)
      } catch (error) {
        yield { policy, binding, fault: bindingFault(error) }
      }
      if (params.length > 0) yield { policy, binding, resource: matched.resource, params }
    }
  }
}

/** Upstream's messages for a faulty policy and a faulty binding. */
export const policyFault = (why: unknown): string => `failed to configure policy: ${textOf(why)}`
export const bindingFault = (why: unknown): string => `failed to configure binding: ${textOf(why)}`

const textOf = (why: unknown): string => (why instanceof Error ? why.message : String(why))
