/**
 * Which policies mean a request, by which of their bindings and with which parameters; what is wrong with one is told
 * in its place.
 */
import type { KubeObject } from '../../../machinery/object.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { collectParams } from './params.ts'
import type { Binding, Policy, PolicySource, PolicySpec } from './policy-source.ts'

/** To be held against the request. */
export interface BoundPolicy<Compiled> {
  readonly policy: Policy<Compiled>
  readonly binding: Binding
  /** In whose version the policy wants to see the request. */
  readonly resource: ServedResource
  /** One after the other; undefined stands for no parameters. */
  readonly params: readonly (KubeObject | undefined)[]
}

/** It could not be found out whether, or with what, to hold the policy: its failure policy decides. */
export interface Misconfigured<Compiled> {
  readonly policy: Policy<Compiled>
  /** Undefined where it is the policy that is wrong. */
  readonly binding?: Binding
  readonly fault: string
}

/** In the order of the names of policies, then of bindings. */
export async function* boundPolicies<Spec extends PolicySpec, Compiled>(
  { index, matcher }: PolicySource<Spec, Compiled>,
  registry: Registry,
  attributes: AdmissionAttributes,
): AsyncGenerator<BoundPolicy<Compiled> | Misconfigured<Compiled>, void, void> {
  for (const candidate of index.candidates(attributes)) {
    const { value: policy } = candidate
    let meant: typeof candidate | undefined
    try {
      meant = await index.meant(candidate, attributes)
    } catch (error) {
      yield { policy, fault: policyFault(error) }
    }
    if (!meant) continue
    if (policy.fault) {
      yield { policy, fault: policyFault(policy.fault) }
      continue
    }
    for (const binding of policy.bindings) {
      const { match } = binding
      let params: BoundPolicy<Compiled>['params'] = []
      try {
        const isMeant =
          !match ||
          (matcher.resourceOf(match, attributes.resource, attributes) !== undefined &&
            (await matcher.selects(match, attributes)))
        if (isMeant) params = await collectParams(registry, policy, binding, attributes.namespace)
      } catch (error) {
        yield { policy, binding, fault: bindingFault(error) }
      }
      if (params.length > 0) yield { policy, binding, resource: meant.resource, params }
    }
  }
}

/** The words for what is wrong with a policy, and with a binding. */
export const policyFault = (why: unknown): string => `failed to configure policy: ${textOf(why)}`
export const bindingFault = (why: unknown): string => `failed to configure binding: ${textOf(why)}`

const textOf = (why: unknown): string => (why instanceof Error ? why.message : String(why))
