/** References to other namespaces need a ReferenceGrant there. */
import type { ReferenceGrant } from './kinds.ts'

export interface GrantedReference {
  readonly from: { readonly group: string; readonly kind: string; readonly namespace: string }
  readonly to: { readonly group: string; readonly kind: string; readonly namespace: string; readonly name: string }
}

/** Returns true if the reference is within a namespace, or a grant in the namespace of the object allows it. */
export function isGranted({ from, to }: GrantedReference, grants: readonly ReferenceGrant[]): boolean {
  if (from.namespace === to.namespace) return true
  return grants.some(
    ({ metadata, spec }) =>
      metadata.namespace === to.namespace &&
      spec.from?.some(
        (one) => one.group === from.group && one.kind === from.kind && one.namespace === from.namespace,
      ) &&
      spec.to?.some((one) => one.group === to.group && one.kind === to.kind && (one.name ?? to.name) === to.name),
  )
}
