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

/** Calls every hook of a resource as a create, an update, a delete and reads do. */
class Lifecycle {
  readonly #resource: ResourceDefinition
  readonly #type: StructType
  readonly #applyDefaults: (object: KubeObject) => void

  constructor(resource: ResourceDefinition, type: StructType) {
    this.#resource = resource
    this.#type = type
    this.#applyDefaults = compileDefaults(resource.defaults ?? [])
  }

  run(fields: Fields): void {
    const created = this.#create(fields)
    this.#update(this.#decode(fields), structuredClone(created))
    this.#update(this.#decode({}), structuredClone(created))
    this.#update(this.#decode(fields), this.#decode({}))
    this.#writeStatus(this.#decode(fields), structuredClone(created))
    this.#writeStatus(this.#decode({}), this.#decode(fields))
    this.#read(this.#decode(fields))
    this.#readStored(structuredClone(created))
  }

  #decode(fields: Fields): KubeObject {
    const object = decodeFields(this.#resource, this.#type, fields)
    this.#applyDefaults(object)
    return object
  }

  #create(fields: Fields): KubeObject {
    const { prepare, validate, warnings } = this.#resource
    const created = this.#decode(fields)
    prepare?.create?.(created, creator)
    validate?.spec?.(created)
    validate?.object?.(created)
    validate?.create?.(created)
    warnings?.(created, undefined)
    this.#read(created)
    return created
  }

  #update(object: KubeObject, before: KubeObject): void {
    const { prepare, validate, generation, warnings } = this.#resource
    const old = sharePart(object, before, 'status')
    prepare?.update?.(object, old)
    validate?.spec?.(object)
    validate?.object?.(object)
    validate?.update?.(object, old)
    if (typeof generation === 'function') generation(object, old)
    warnings?.(object, old)
  }

  #writeStatus(object: KubeObject, before: KubeObject): void {
    const { prepare, validate, subresources } = this.#resource
    const old = sharePart(object, before, 'spec')
    prepare?.status?.(object, old, '2026-01-01T00:00:00Z')
    validate?.status?.(object, old)
    for (const { writes } of subresources?.special ?? []) {
      const part = structuredClone(object)
      writes?.prepare(part as never, old as never)
      writes?.validate(part as never, old as never)
    }
  }

  #read(object: KubeObject): void {
    const { columns, selectableFields, rowConditions, deletion } = this.#resource
    for (const { cell } of columns ?? []) cell(object)
    for (const select of Object.values(selectableFields ?? {})) select(object)
    rowConditions?.(object)
    deletion?.gracePeriod?.(object, undefined)
    deletion?.hasFinalizers?.(object)
    deletion?.begin?.(structuredClone(object))
  }

  #readStored(object: KubeObject): void {
    const { storedAs } = this.#resource
    const stored = storedAs?.toStorage?.(object)
    if (stored) this.#read(storedAs?.fromStorage?.(stored) ?? stored)
  }
}

for (const resource of registry.all) {
  const type = schemaOf(resource)
  if (!type) continue
  test(`hooks of ${resourceKey(resource)} accept fields that are empty or null`, () => {
    const lifecycle = new Lifecycle(resource, type)
    const failed = new Map<string, string>()
    const run = (fields: Fields): void => {
      try {
        lifecycle.run(fields)
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
