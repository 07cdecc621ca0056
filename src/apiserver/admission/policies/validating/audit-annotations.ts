/** The annotations that policies add to the audit event of a request. */
import type { Binding } from '../policy-source.ts'

/** The maximum length of a value, in characters. Longer values are truncated. */
const longest = 10 * 1024

export interface AuditAnnotations {
  add(policy: string, key: string, value: string): void
  publish(annotate: (key: string, value: string) => void): void
}

/** The annotations of a request. Different values of several bindings under the same key are joined. */
export function auditAnnotations(): AuditAnnotations {
  const known = new Map<string, Set<string>>()
  return {
    add(policy, key, value) {
      const name = `${policy}/${key}`
      let values = known.get(name)
      if (!values) known.set(name, (values = new Set()))
      values.add(value.slice(0, longest))
    },
    publish(annotate) {
      for (const [name, values] of known) annotate(name, [...values].join(', '))
    },
  }
}

/** The annotation of a failed validation whose binding has the action `Audit`. */
export function validationFailure(
  policy: string,
  { name, spec }: Binding,
  expressionIndex: number,
  message: string,
): readonly [key: string, value: string] {
  const failure = { message, policy, binding: name, expressionIndex, validationActions: spec.validationActions }
  return ['validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure])]
}
