/**
 * Appliers in random order, for any type: each applies random parts of an object, now and then by force. None may lose
 * a field to another that did not take it by force, nor keep one that it gave up. Throws an AssertionError that names
 * the seed.
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
/** What an applier has no business with. */
const leftAlone = new Set([
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
const deepest = 7

/** A run: few fields of each structure play, so that appliers meet. */
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
      const all = [...type.fields].filter(([name]) => !leftAlone.has(name))
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
    if (depth > deepest) return undefined
    if (!keys || items.kind !== 'struct') {
      const chosen = texts.filter(() => this.#random.chance(0.5))
      return chosen.length && items.kind === 'string' ? chosen : undefined
    }
    const chosen = [1, 2, 3].filter(() => this.#random.chance(0.6))
    if (this.#random.chance(0.3)) chosen.reverse()
    // The last key is enough to tell them apart.
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
        const made = depth > deepest ? {} : this.#struct(type, depth)
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

/** The value at a path, undefined if there is none. */
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

/** Whether the path is a value of its own: what lies below others is theirs. */
const isWhole = (value: unknown, fields: FieldsV1, path: readonly string[]): boolean =>
  typeof value !== 'object' ||
  Object.keys(path.reduce<FieldsV1>((node, element) => node[element] ?? {}, fields)).every((key) => key === '.')

const fieldsOf = (object: KubeObject | undefined, manager: string): FieldsV1 =>
  object?.metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1 ?? {}

/**
 * Runs appliers from a seed; returns how many applies were refused and how many taken by force, so that a test can see
 * that both happen.
 */
export function runAppliers(applied: AppliedKind, seed: number): { refused: number; forced: number } {
  const random = new Random(seed)
  const configurations = new Configurations(random)
  const told = `seed ${seed}`
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
      assert.ok(error instanceof StatusError && error.code === 409 && !force, `${told}: ${error}`)
      assert.equal(JSON.stringify(live), before, `${told}: a refused apply changed the object`)
      assertConflicts(error, live!, wanted, applied.type, manager, told)
      counts.refused++
      continue
    }
    assert.equal(JSON.stringify(live), before, `${told}: applying changed the object that it was given`)
    const at = `${told}, step ${step}, ${manager} applies`
    assertHeld(live, after, wanted, applied.type, manager, force, at)
    assertGivenUp(live, after, applied.type, manager, at)
    assert.equal(apply(after).changed, false, `${at}: again is no change`)
    if (force) counts.forced++
    // As it is after it was stored.
    live = JSON.parse(JSON.stringify(after)) as KubeObject
  }
  return counts
}

/** A refused apply names fields of others that would change, and nothing else. */
function assertConflicts(
  error: StatusError,
  live: KubeObject,
  wanted: KubeObject,
  type: StructType,
  manager: string,
  told: string,
): void {
  const others = managers.filter((other) => other !== manager)
  for (const { field = '' } of error.status.details?.causes ?? []) {
    const owner = others.find((other) => [...pathsOf(fieldsOf(live, other))].some((path) => pathText(path) === field))
    assert.ok(owner, `${told}: nobody else owns ${field}`)
    const path = [...pathsOf(fieldsOf(live, owner))].find((one) => pathText(one) === field)!
    assert.ok(!jsonEqual(valueAt(live, type, path), valueAt(wanted, type, path)), `${told}: ${field} would not change`)
  }
}

/** What the applier wants is there, and what others own is as it was unless it was taken by force. */
function assertHeld(
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
    if (isWhole(value, own, path))
      assert.deepEqual(valueAt(after, type, path), value, `${at}: ${pathText(path)} is not as applied`)
  }
  for (const other of managers) {
    if (other === self) continue
    const owned = fieldsOf(live, other)
    for (const path of pathsOf(owned)) {
      const value = valueAt(live, type, path)
      const now = valueAt(after, type, path)
      const taken = force && valueAt(wanted, type, path) !== undefined && !jsonEqual(valueAt(wanted, type, path), value)
      const whole = isWhole(value, owned, path)
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

/** What the applier alone owned and does not apply any more is gone. */
function assertGivenUp(
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

/** Whether the field or something below it is in the set. */
function isOwned(fields: FieldsV1, path: readonly string[]): boolean {
  let node: FieldsV1 | undefined = fields
  for (const element of path) node = node?.[element]
  return node !== undefined
}
