/** The files of the downward API: fields of the pod and resources of its containers. */
import { normalize } from 'node:path/posix'
import { aggregated } from '../../../lib/go/aggregate.ts'
import type { Pod } from '../../pod-types.ts'
import type { Payload, PayloadFile } from './payload.ts'

/** Returns the values of a pod. Both throw an Error for an unsupported path or resource. */
export interface PodFields {
  field(pod: Pod, path: string): string
  resource(
    pod: Pod,
    selector: { readonly containerName?: string; readonly resource: string; readonly divisor?: string },
  ): string
}

export interface PodFieldItem {
  readonly path: string
  readonly mode?: number
  readonly fieldRef?: { readonly fieldPath: string }
  readonly resourceFieldRef?: { readonly containerName?: string; readonly resource: string; readonly divisor?: string }
}

/** Throws an Error with all messages of fields that have no value. */
export function podFieldFiles(
  pod: Pod,
  items: readonly PodFieldItem[],
  defaultMode: number,
  fields: PodFields,
): Payload {
  const files = new Map<string, PayloadFile>()
  const errors: string[] = []
  for (const { path, mode = defaultMode, fieldRef, resourceFieldRef } of items)
    try {
      const value = fieldRef
        ? fields.field(pod, fieldRef.fieldPath)
        : resourceFieldRef
          ? fields.resource(pod, resourceFieldRef)
          : undefined
      if (value !== undefined) files.set(normalize(path), { data: Buffer.from(value), mode })
    } catch (error) {
      errors.push((error as Error).message)
    }
  if (errors.length > 0) throw new Error(aggregated(errors))
  return files
}
