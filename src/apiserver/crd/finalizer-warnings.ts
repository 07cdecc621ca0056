/** Warnings about finalizers of custom resources, which may have any name. */
import type { KubeObject } from '../../machinery/object.ts'
import { isFinalizer } from '../../machinery/validation/metadata.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'

/** Warnings about the finalizers that a write adds, sorted. */
export function finalizerWarnings(object: KubeObject, old?: KubeObject): readonly string[] {
  const finalizers = object.metadata.finalizers ?? []
  if (finalizers.length === 0) return []
  const before = new Set(old?.metadata.finalizers)
  return [...new Set(finalizers)]
    .filter((finalizer) => !before.has(finalizer))
    .sort()
    .flatMap((finalizer) =>
      warningsOf(finalizer).map((warning) => `metadata.finalizers: ${JSON.stringify(finalizer)}: ${warning}`),
    )
}

function warningsOf(finalizer: string): readonly string[] {
  const faults = qualifiedName(finalizer)
  if (isFinalizer(finalizer)) return faults
  const path = finalizer.includes('.') ? ' including a path (/)' : ''
  return [
    ...faults,
    `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
  ]
}
