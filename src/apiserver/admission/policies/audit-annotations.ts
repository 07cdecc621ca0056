/** What policies leave in the audit event of a request. */
import type { Binding } from './policy-source.ts'

/** Longer values are cut, in characters. */
const longest = 10 * 1024

/** The annotations of one policy: its bindings may say different things under the same key, and are told together. */
export function auditAnnotations(policy: string) {
  const known = new Map<string, Set<string>>()
  return {
    add(key: string, value: string): void {
      let values = known.get(key)
      if (!values) known.set(key, (values = new Set()))
      values.add(value.slice(0, longest))
    },
    publish(annotate: (key: string, value: string) => void): void {
      for (const [key, values] of known) annotate(`${policy}/${key}`, [...values].join(', '))
    },
  }
}

/** The annotation of a validation that failed where the binding says `Audit`. */
export function validationFailure(policy: string, { name, spec }: Binding, expressionIndex: number, message: string): readonly [key: string, value: string] {
  const failure = { message, policy, binding: name, expressionIndex, validationActions: spec.validationActions }
  return ['validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure])]
}
