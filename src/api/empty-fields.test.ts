/**
 * Go clients send null for required lists and maps that are empty, and omit most other empty fields: no hook of a kind
 * may throw on either.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject, Unstructured } from '../machinery/object.ts'
import type { StructType } from '../machinery/schema.ts'
import { compileDefaults } from './defaults.ts'
import { resourceRegistry } from './registry.ts'
import { type ResourceDefinition, resourceKey } from './resource.ts'
import { schemaOf } from './schema/index.ts'
import { decodeFields, type Fields, sparseFields } from './sparse-objects.fixture.ts'

const registry = resourceRegistry({ runtimeConfig: 'api/all=true' })
const creator = { name: 'tester', groups: [] }

/**
 * Makes the new object share a part with the old one, which is frozen. The write path does the same with the part that
 * an endpoint does not write; a hook that changed it would make the write look like a no-op.
 */
function sharePart(object: KubeObject, old: KubeObject, field: 'spec' | 'status'): KubeObject {
  freeze(old)
  const part = (old as Unstructured)[field]
  if (part !== undefined) (object as Unstructured)[field] = part
  return old
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) freeze(member)
}

/** Returns a function that calls every hook of the resource as a create, an update, a delete and reads do. */
function lifecycleOf(resource: ResourceDefinition, type: StructType): (fields: Fields) => void {
  const {
    prepare,
    validate,
    warnings,
    columns,
    rowConditions,
    selectableFields,
    deletion,
    generation,
    storedAs,
    subresources,
  } = resource
  const applyDefaults = compileDefaults(resource.defaults ?? [])
  const fresh = (fields: Fields): KubeObject => {
    const object = decodeFields(resource, type, fields)
    applyDefaults(object)
    return object
  }
  const change = (object: KubeObject, before: KubeObject): void => {
    const old = sharePart(object, before, 'status')
    prepare?.update?.(object, old)
    validate?.spec?.(object)
    validate?.object?.(object)
    validate?.update?.(object, old)
    if (typeof generation === 'function') generation(object, old)
    warnings?.(object, old)
  }
  const writeStatus = (object: KubeObject, before: KubeObject): void => {
    const old = sharePart(object, before, 'spec')
    prepare?.status?.(object, old, '2026-01-01T00:00:00Z')
    validate?.status?.(object, old)
    for (const { writes } of subresources?.special ?? []) {
      const part = structuredClone(object)
      writes?.prepare(part as never, old as never)
      writes?.validate(part as never, old as never)
    }
  }
  const read = (object: KubeObject): void => {
    for (const { cell } of columns ?? []) cell(object)
    for (const select of Object.values(selectableFields ?? {})) select(object)
    rowConditions?.(object)
    deletion?.gracePeriod?.(object, undefined)
    deletion?.hasFinalizers?.(object)
    deletion?.begin?.(structuredClone(object))
  }
  return (fields) => {
    const created = fresh(fields)
    prepare?.create?.(created, creator)
    validate?.spec?.(created)
    validate?.object?.(created)
    validate?.create?.(created)
    warnings?.(created, undefined)
    read(created)
    change(fresh(fields), structuredClone(created))
    change(fresh({}), structuredClone(created))
    change(fresh(fields), fresh({}))
    writeStatus(fresh(fields), structuredClone(created))
    writeStatus(fresh({}), fresh(fields))
    read(fresh(fields))
    if (!storedAs) return
    const stored = storedAs.toStorage?.(structuredClone(created))
    if (stored) read(storedAs.fromStorage?.(stored) ?? stored)
  }
}

for (const resource of registry.all) {
  const type = schemaOf(resource)
  if (!type) continue
  test(`hooks of ${resourceKey(resource)} accept fields that are empty or null`, () => {
    const runLifecycle = lifecycleOf(resource, type)
    const failed = new Map<string, string>()
    const run = (fields: Fields): void => {
      try {
        runLifecycle(fields)
      } catch (error) {
        const [message = '', place = ''] = error instanceof Error ? (error.stack ?? '').split('\n') : [String(error)]
        failed.set(`${message} ${place.trim()}`, JSON.stringify(fields).slice(0, 200))
      }
    }
    for (const fields of sparseFields(type, 4)) run(fields)
    assert.deepEqual(
      [...failed].map(([why, fields]) => `${why} with ${fields}`),
      [],
    )
  })
}
