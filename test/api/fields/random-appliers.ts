/**
 * Runs appliers in random order, for any type: each applies random fields of an object, sometimes with force. No
 * manager may lose a field to another one without force, nor keep a field that it no longer applies. Throws an
 * AssertionError with the seed.
 */
import assert from 'node:assert/strict'
import { applyPatch } from '../../../src/apiserver/apply/index.ts'
import { own } from '../../../src/lib/own.ts'
import { has, pathsOf } from '../../../src/machinery/fields/field-set.ts'
import { jsonEqual } from '../../../src/machinery/fields/json.ts'
import { pathText } from '../../../src/machinery/fields/path-element.ts'
import {
  type Collection,
  elementOrUndefined,
  memberOf,
  type TypedNode,
  typedNode,
} from '../../../src/machinery/fields/typed-node.ts'
import type { FieldsV1, KubeObject } from '../../../src/machinery/object.ts'
import type { Field, FieldType, StructType } from '../../../src/machinery/schema.ts'
import { StatusError } from '../../../src/machinery/status-error.ts'
import { Random } from '../../fuzz/random.ts'

export interface AppliedKind {
  readonly apiVersion: string
  readonly kind: string
  readonly type: StructType
}

type Json = Record<string, unknown>

const managers = ['a', 'b', 'c', 'd']
const steps = 40
const texts = ['x', 'y', 'z']
/** Fields that appliers do not set. */
const ignoredFields = new Set([
  'apiVersion',
  'kind',
  'status',
  'name',
  'namespace',
  'managedFields',
  'uid',
  'resourceVersion',
  'ownerReferences',
  'generateName',
])
const maxDepth = 7

/** Random configurations of a run. They use few fields of each struct, so that appliers conflict. */
class Configurations {
  readonly #random: Random
  readonly #playing = new Map<StructType, readonly (readonly [string, Field])[]>()

  constructor(random: Random) {
    this.#random = random
  }

  of({ apiVersion, kind, type }: AppliedKind): KubeObject {
    const made = this.#struct(type, 0)
    return {
      ...made,
      apiVersion,
      kind,
      metadata: { ...(made.metadata as object | undefined), name: 'one' },
    } as KubeObject
  }

  #fieldsOf(type: StructType): readonly (readonly [string, Field])[] {
    let playing = this.#playing.get(type)
    if (!playing) {
      const all = [...type.fields].filter(([name]) => !ignoredFields.has(name))
      playing = all.filter(
        ([, { type }]) => type.kind === 'struct' || this.#random.chance(Math.max(0.3, 4 / all.length)),
      )
      this.#playing.set(type, playing)
    }
    return playing
  }

  #struct(type: StructType, depth: number, keys: Json = {}): Json {
    const made: Json = {}
    for (const [name, field] of this.#fieldsOf(type))
      if (this.#random.chance(depth < 2 ? 0.8 : 0.5)) {
        const value = this.#field(field, depth + 1)
        if (value !== undefined) made[name] = value
      }
    return { ...made, ...keys }
  }

  #field({ type, listType, listMapKeys, patchStrategy, patchMergeKey }: Field, depth: number): unknown {
    if (type.kind !== 'array') return this.#value(type, depth)
    const keys =
      listType === 'map'
        ? listMapKeys
        : !listType && patchStrategy?.includes('merge') && patchMergeKey
          ? [patchMergeKey]
          : undefined
    const { items } = type
    if (depth > maxDepth) return undefined
    if (!keys || items.kind !== 'struct') {
      const chosen = texts.filter(() => this.#random.chance(0.5))
      return chosen.length && items.kind === 'string' ? chosen : undefined
    }
    const chosen = [1, 2, 3].filter(() => this.#random.chance(0.6))
    if (this.#random.chance(0.3)) chosen.reverse()
    // The first key is unique; the others are constant.
    const keyed = chosen.map((n) =>
      this.#struct(
        items,
        depth + 1,
        Object.fromEntries(keys.map((key, i) => [key, keyValue(items.fields.get(key)?.type, i === 0 ? n : 1)])),
      ),
    )
    return keyed.length ? keyed : undefined
  }

  #value(type: FieldType, depth: number): unknown {
    switch (type.kind) {
      case 'struct': {
        const made = depth > maxDepth ? {} : this.#struct(type, depth)
        return Object.keys(made).length ? made : undefined
      }
      case 'map': {
        const entries = texts
          .filter(() => this.#random.chance(0.4))
          .map((key) => [key, this.#value(type.values, depth + 1)] as const)
        const made = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
        return Object.keys(made).length ? made : undefined
      }
      case 'integer':
      case 'number':
        return 1 + this.#random.below(3)
      case 'boolean':
        return this.#random.chance(0.5)
      case 'any':
        return type.deduced ? { [this.#random.pick(texts)]: this.#random.pick(texts) } : this.#random.pick(texts)
      case 'array':
        return undefined
      default:
        return this.#random.pick(texts)
    }
  }
}

const keyValue = (type: FieldType | undefined, n: number): unknown => (type?.kind === 'integer' ? n : texts[n - 1])

/** Returns the value at a path, or undefined. */
function valueAt(object: unknown, type: StructType, path: readonly string[]): unknown {
  let value = object
  let node: TypedNode | undefined = typedNode(type)
  for (const element of path) {
    if (!node || node.kind === 'leaf' || typeof value !== 'object' || value === null) return undefined
    if (node.kind === 'set' || node.kind === 'list') {
      const list: Collection = node
      value = (value as unknown[]).find((item) => elementOrUndefined(list, item) === element)
      node = list.items
    } else {
      const name = element.slice(2)
      value = own(value as Json, name)
      node = memberOf(node, name)
    }
  }
  return value
}

/** Returns true if the path is a leaf of the field set, or a scalar. */
const isLeaf = (value: unknown, fields: FieldsV1, path: readonly string[]): boolean =>
  typeof value !== 'object' ||
  Object.keys(path.reduce<FieldsV1>((node, element) => node[element] ?? {}, fields)).every((key) => key === '.')

const fieldsOf = (object: KubeObject | undefined, manager: string): FieldsV1 =>
  object?.metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1 ?? {}

/**
 * Runs appliers from a seed. Returns the number of rejected and of forced applies, so that a test can check that both
 * occur.
 */
export function runAppliers(applied: AppliedKind, seed: number): { refused: number; forced: number } {
  const random = new Random(seed)
  const configurations = new Configurations(random)
  const label = `seed ${seed}`
  const counts = { refused: 0, forced: 0 }
  let live: KubeObject | undefined
  for (let step = 0; step < steps; step++) {
    const manager = random.pick(managers)
    const wanted = configurations.of(applied)
    const force = random.chance(0.4)
    const now = new Date(1_700_000_000_000 + 1000 * step).toISOString()
    const apply = (on: KubeObject | undefined, forced = force) =>
      applyPatch({ ...applied, live: on, applied: wanted, manager, force: forced, now })
    const before = JSON.stringify(live)
    let after: KubeObject
    try {
      after = apply(live).object
    } catch (error) {
      assert.ok(error instanceof StatusError && error.code === 409 && !force, `${label}: ${error}`)
      assert.equal(JSON.stringify(live), before, `${label}: a rejected apply changed the object`)
      assertConflicts(error, live!, wanted, applied.type, manager, label)
      counts.refused++
      continue
    }
    assert.equal(JSON.stringify(live), before, `${label}: applying changed the object that it was given`)
    const at = `${label}, step ${step}, ${manager} applies`
    assertApplied(live, after, wanted, applied.type, manager, force, at)
    assertRemoved(live, after, applied.type, manager, at)
    assert.equal(apply(after).changed, false, `${at}: a second apply is no change`)
    if (force) counts.forced++
    // As after a round trip through the store.
    live = JSON.parse(JSON.stringify(after)) as KubeObject
  }
  return counts
}

/** A rejected apply reports only fields of other managers that would change. */
function assertConflicts(
  error: StatusError,
  live: KubeObject,
  wanted: KubeObject,
  type: StructType,
  manager: string,
  label: string,
): void {
  const others = managers.filter((other) => other !== manager)
  for (const { field = '' } of error.status.details?.causes ?? []) {
    const owner = others.find((other) => [...pathsOf(fieldsOf(live, other))].some((path) => pathText(path) === field))
    assert.ok(owner, `${label}: nobody else owns ${field}`)
    const path = [...pathsOf(fieldsOf(live, owner))].find((one) => pathText(one) === field)!
    assert.ok(!jsonEqual(valueAt(live, type, path), valueAt(wanted, type, path)), `${label}: ${field} would not change`)
  }
}

/** The applied fields are set, and fields of other managers are unchanged unless forced. */
function assertApplied(
  live: KubeObject | undefined,
  after: KubeObject,
  wanted: KubeObject,
  type: StructType,
  self: string,
  force: boolean,
  at: string,
): void {
  const own = fieldsOf(after, self)
  for (const path of pathsOf(own)) {
    const value = valueAt(wanted, type, path)
    assert.notEqual(value, undefined, `${at}: owns ${pathText(path)}, which it did not apply`)
    if (isLeaf(value, own, path))
      assert.deepEqual(valueAt(after, type, path), value, `${at}: ${pathText(path)} is not as applied`)
  }
  for (const other of managers) {
    if (other === self) continue
    const owned = fieldsOf(live, other)
    for (const path of pathsOf(owned)) {
      const value = valueAt(live, type, path)
      const now = valueAt(after, type, path)
      const taken = force && valueAt(wanted, type, path) !== undefined && !jsonEqual(valueAt(wanted, type, path), value)
      const whole = isLeaf(value, owned, path)
      if (taken && whole) {
        assert.ok(!has(fieldsOf(after, other), path), `${at}: ${other} still owns ${pathText(path)}`)
        continue
      }
      assert.notEqual(now, undefined, `${at}: ${other} loses ${pathText(path)}`)
      if (whole) assert.deepEqual(now, value, `${at}: ${other} loses the value of ${pathText(path)}`)
      assert.ok(taken || has(fieldsOf(after, other), path), `${at}: ${other} does not own ${pathText(path)} any more`)
    }
  }
}

/** Fields that only this manager owned and no longer applies are removed. */
function assertRemoved(
  live: KubeObject | undefined,
  after: KubeObject,
  type: StructType,
  self: string,
  at: string,
): void {
  const owners = managers.map((manager) => fieldsOf(after, manager))
  for (const path of pathsOf(fieldsOf(live, self))) {
    if (owners.some((fields) => isOwned(fields, path))) continue
    assert.equal(valueAt(after, type, path), undefined, `${at}: ${pathText(path)} has no owner any more and stays`)
  }
}

/** Returns true if the field or one below it is in the set. */
function isOwned(fields: FieldsV1, path: readonly string[]): boolean {
  let node: FieldsV1 | undefined = fields
  for (const element of path) node = node?.[element]
  return node !== undefined
}
