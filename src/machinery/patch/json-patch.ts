/**
 * JSON patch (RFC 6902) with the semantics of kube-apiserver's library: `replace` of an absent member adds it, a `test`
 * for null succeeds for an absent member, negative indexes count from the end. Either all operations apply or none
 * does.
 */
import { writeJson } from '../../lib/exact-json.ts'
import { goQuote } from '../../lib/go/go-quote.ts'
import { own, setOwn } from '../../lib/own.ts'
import { isObject, type JsonObject, jsonEqual } from '../fields/json.ts'
import { badRequest, requestEntityTooLarge, StatusError } from '../status-error.ts'
import { jsonKind } from './merge-patch.ts'

/** The limit of operations in a patch. Larger patches are rejected with 413. */
export const maxOperations = 10_000

/** The limit of bytes that the `copy` operations of a patch add. */
const maxCopiedBytes = 3 * 1024 * 1024

/** An operation does not apply. The message is that of kube-apiserver's library. */
export class PatchError extends Error {}

/** A `test` operation failed. */
export class FailedTest extends PatchError {}

/**
 * Returns the object with the operations applied. Does not change the object; unchanged parts are shared.
 * Throws 400 if this is not a list of operations, 413 if there are too many, 422 if an operation does not apply.
 */
export function jsonPatch<T extends object>(object: T, operations: unknown): T {
  if (!Array.isArray(operations))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(operations)} into Go value of type ` +
        '[]handlers.jsonPatchOp',
    )
  for (const operation of operations) checkForm(operation)
  if (operations.length > maxOperations)
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    )
  try {
    return applyOperations(object, operations as JsonObject[])
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    // Upstream does not return the reason either.
    throw new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
  }
}

/** Applies operations that are not from a client. Throws a PatchError for the first one that does not apply. */
export function applyOperations<T extends object>(object: T, operations: readonly object[]): T {
  const patched = new Document(object)
  for (const operation of operations) patched.apply(operation as JsonObject)
  return patched.root as T
}

function checkForm(operation: unknown): void {
  if (!isObject(operation))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(operation)} into Go value of type handlers.jsonPatchOp`,
    )
  for (const field of ['op', 'path', 'from'])
    if (operation[field] !== undefined && operation[field] !== null && typeof operation[field] !== 'string')
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${jsonKind(operation[field])} into Go struct field ` +
          `jsonPatchOp.${field} of type string`,
      )
}

/** Parses a JSON pointer to its steps. Returns undefined if it does not point inside the document. */
function pointer(path: string): string[] | undefined {
  if (!path.includes('/')) return undefined
  const steps = path.split('/').slice(1)
  return path.includes('~') ? steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) : steps
}

const isMissing = 'missing value'

/** Puts `where` before the message of a PatchError in `act`. */
function at<T>(where: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw error instanceof PatchError ? new PatchError(`${where}: ${error.message}`) : error
  }
}

/** A document that is being patched. Containers are copied once, before their first change. */
class Document {
  root: unknown
  readonly #own = new WeakSet<object>()
  #copied = 0

  constructor(root: unknown) {
    this.root = root
  }

  apply(operation: JsonObject): void {
    const { op, value = null } = operation
    if (op === 'add') this.#add(pathOf(operation, isMissing), value)
    else if (op === 'replace') this.#replace(pathOf(operation), value)
    else if (op === 'remove') this.#remove(pathOf(operation, isMissing))
    else if (op === 'test') this.#test(pathOf(operation), value)
    else if (op === 'move') this.#move(fromOf(operation), operation)
    else if (op === 'copy') this.#copy(fromOf(operation), pathOf(operation, isMissing))
    else throw new PatchError(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`)
  }

  #add(path: string, value: unknown): void {
    const place = this.#place(path, `add operation does not apply: doc is missing path: "${path}"`)
    at(`error in add for path: '${path}'`, () => add(place, value))
  }

  #remove(path: string): void {
    const place = this.#place(path, `remove operation does not apply: doc is missing path: "${path}"`)
    at(`error in remove for path: '${path}'`, () => remove(place))
  }

  /** Resolves the destination only after the value is removed from its source. */
  #move(from: string, operation: JsonObject): void {
    const source = this.#place(from, `move operation does not apply: doc is missing from path: ${from}`)
    const moved = at(`error in move for path: '${source.key}'`, () => {
      const found = get(source)
      remove(source)
      return found
    })
    const path = pathOf(operation)
    const place = this.#place(path, `move operation does not apply: doc is missing destination path: ${path}`)
    at(`error in move for path: '${path}'`, () => add(place, moved))
  }

  #replace(path: string, value: unknown): void {
    if (path === '') {
      if (!isObject(value) && !Array.isArray(value))
        throw new PatchError('replace operation value must be object or array')
      this.root = value
      return
    }
    const { container, key } = this.#place(path, `replace operation does not apply: doc is missing path: ${path}`)
    if (Array.isArray(container)) {
      const index = indexOf(container, key)
      if (typeof index === 'string')
        throw new PatchError(`replace operation does not apply: doc is missing key: ${path}: ${isMissing}`)
      container[index] = value
    } else setOwn(container as JsonObject, key, value)
  }

  #test(path: string, value: unknown): void {
    let found = this.root
    if (path !== '') {
      const place = this.#place(path, `test operation does not apply: is missing path: ${path}`, false)
      found = at(`error in test for path: '${path}'`, () => get(place))
    }
    if (!jsonEqual(found ?? null, value)) throw new FailedTest(`testing value ${path} failed: test failed`)
  }

  #copy(from: string, path: string): void {
    const source = this.#place(from, `copy operation does not apply: doc is missing from path: ${from}`, false)
    const copied = at(`error in copy for from: '${from}'`, () => get(source)) ?? null
    const place = this.#place(path, `copy operation does not apply: doc is missing destination path: ${path}`)
    this.#copied += writeJson(copied).length
    if (this.#copied > maxCopiedBytes)
      throw new PatchError(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copied}, exceeding the ` +
          `limit ${maxCopiedBytes}`,
      )
    // Later operations may change both places, so the copy must not share containers.
    at('error while adding value during copy', () => add(place, structuredClone(copied)))
  }

  /** Returns the place at a path. Copies its containers if `change`. Fails with `missing` if a parent is missing. */
  #place(path: string, missing: string, change = true): Place {
    return this.#find(path, change) ?? fail(`${missing}: ${isMissing}`)
  }

  #find(path: string, change: boolean): Place | undefined {
    const steps = pointer(path)
    if (!steps) return undefined
    const key = steps.pop()!
    if (change) this.root = this.#changeable(this.root)
    let container = this.root
    for (const step of steps) {
      const index = Array.isArray(container) ? indexOf(container, step) : step
      const below = Array.isArray(container) ? container[index as number] : own(container as JsonObject, step)
      if (typeof below !== 'object' || below === null) return undefined
      const next = change ? this.#changeable(below) : below
      if (next !== below) {
        if (Array.isArray(container)) container[index as number] = next
        else setOwn(container as JsonObject, step, next)
      }
      container = next
    }
    return typeof container === 'object' && container !== null ? { container, key } : undefined
  }

  #changeable(container: unknown): unknown {
    if (typeof container !== 'object' || container === null || this.#own.has(container)) return container
    const copy = Array.isArray(container) ? [...container] : { ...container }
    this.#own.add(copy)
    return copy
  }
}

interface Place {
  readonly container: object
  readonly key: string
}

function fail(why: string): never {
  throw new PatchError(why)
}

/** Returns the path of an operation. Fails with `missing` if it has none. */
const pathOf = ({ op, path }: JsonObject, missing = `operation missing path field: ${isMissing}`): string =>
  typeof path === 'string' ? path : fail(`${op} operation failed to decode path: ${missing}`)

const fromOf = ({ op, from }: JsonObject): string =>
  typeof from === 'string'
    ? from
    : fail(`${op} operation failed to decode from: operation, missing from field: ${isMissing}`)

/** Returns the index that a key names, up to `end`, or the error message. */
function indexOf(list: readonly unknown[], key: string, end = list.length - 1): number | string {
  if (!/^[-+]?\d+$/.test(key)) return `strconv.Atoi: parsing ${goQuote(key)}: invalid syntax`
  const index = Number(key)
  const place = index < 0 ? index + end + 1 : index
  return place < 0 || place > end ? `Unable to access invalid index: ${index}: invalid index referenced` : place
}

const indexIn = (list: readonly unknown[], key: string, end?: number): number => {
  const index = indexOf(list, key, end)
  return typeof index === 'string' ? fail(index) : index
}

const get = ({ container, key }: Place): unknown =>
  Array.isArray(container) ? container[indexIn(container, key)] : own(container as JsonObject, key)

function add({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) setOwn(container as JsonObject, key, value)
  else if (key === '-') container.push(value)
  else container.splice(indexIn(container, key, container.length), 0, value)
}

function remove({ container, key }: Place): void {
  if (Array.isArray(container)) container.splice(indexIn(container, key), 1)
  else if (!Object.hasOwn(container, key)) fail(`Unable to remove nonexistent key: ${key}: ${isMissing}`)
  else delete (container as JsonObject)[key]
}
