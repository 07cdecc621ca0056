/**
 * JSON patch (RFC 6902) with the semantics of kube-apiserver's library: `replace` of an absent member adds it, a `test`
 * for null holds for an absent member, negative indexes count from the end. All operations hold or none does.
 */
import { own, setOwn } from '../../lib/own.ts'
import { isObject, type JsonObject, jsonEqual } from '../fields/json.ts'
import { badRequest, requestEntityTooLarge, StatusError } from '../status-error.ts'
import { jsonKind } from './merge-patch.ts'

/** More operations than this in one patch are refused with 413. */
export const maxOperations = 10_000

/** Bytes that `copy` operations of one patch may make. */
const maxCopiedBytes = 3 * 1024 * 1024

const failed = (): StatusError => new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

/**
 * The object with the operations applied; it is not changed, and what no operation touches is shared.
 * 400 when this is no list of operations, 413 when there are too many, 422 when an operation does not apply.
 */
export function jsonPatch<T extends object>(object: T, operations: unknown): T {
  if (!Array.isArray(operations))
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(operations)} into Go value of type []handlers.jsonPatchOp`)
  for (const operation of operations) checkForm(operation)
  if (operations.length > maxOperations)
    throw requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`)
  const patched = new Document(object)
  for (const operation of operations) patched.apply(operation as JsonObject)
  return patched.root as T
}

function checkForm(operation: unknown): void {
  if (!isObject(operation)) throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(operation)} into Go value of type handlers.jsonPatchOp`)
  for (const field of ['op', 'path', 'from'])
    if (operation[field] !== undefined && operation[field] !== null && typeof operation[field] !== 'string')
      throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(operation[field])} into Go struct field jsonPatchOp.${field} of type string`)
}

/** The steps of a JSON pointer; undefined when it names nothing inside the document. */
function pointer(path: unknown): string[] | undefined {
  if (typeof path !== 'string' || !path.includes('/')) return undefined
  const steps = path.split('/').slice(1)
  return path.includes('~') ? steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) : steps
}

/** A document under change: containers are copied once, when an operation first changes them. */
class Document {
  root: unknown
  readonly #own = new WeakSet<object>()
  #copied = 0

  constructor(root: unknown) {
    this.root = root
  }

  apply({ op, path, from, value = null }: JsonObject): void {
    switch (op) {
      case 'add':
        this.#add(this.#container(path), value)
        return
      case 'replace':
        if (path === '') this.root = isObject(value) || Array.isArray(value) ? value : this.#fail()
        else this.#set(this.#container(path), value)
        return
      case 'remove':
        this.#remove(this.#container(path))
        return
      case 'test': {
        const found = path === '' ? this.root : this.#get(this.#container(path, false))
        if (!jsonEqual(found ?? null, value)) this.#fail()
        return
      }
      case 'move': {
        const moved = this.#get(this.#container(from, false))
        this.#remove(this.#container(from))
        this.#add(this.#container(path), moved)
        return
      }
      case 'copy': {
        const copied = this.#get(this.#container(from, false)) ?? null
        this.#copied += JSON.stringify(copied).length
        if (this.#copied > maxCopiedBytes) this.#fail()
        // Both places may change later: neither may go on as the document's own.
        this.#add(this.#container(path), structuredClone(copied))
        return
      }
      default:
        this.#fail()
    }
  }

  #fail(): never {
    throw failed()
  }

  /** The container that the last step of the path is about, made changeable if asked. Fails when a parent is missing. */
  #container(path: unknown, change = true): Place {
    const steps = pointer(path) ?? this.#fail()
    const key = steps.pop()!
    if (change) this.root = this.#changeable(this.root)
    let at = this.root
    for (const step of steps) {
      const below = this.#get({ container: at, key: step })
      if (typeof below !== 'object' || below === null) this.#fail()
      const next = change ? this.#changeable(below) : below
      if (next !== below) {
        if (Array.isArray(at)) at[this.#index(at, step)] = next
        else setOwn(at as JsonObject, step, next)
      }
      at = next
    }
    if (typeof at !== 'object' || at === null) this.#fail()
    return { container: at, key }
  }

  #changeable(container: unknown): unknown {
    if (typeof container !== 'object' || container === null || this.#own.has(container)) return container
    const copy = Array.isArray(container) ? [...container] : { ...container }
    this.#own.add(copy)
    return copy
  }

  #index(list: readonly unknown[], key: string, end = list.length - 1): number {
    if (!/^[-+]?\d+$/.test(key)) this.#fail()
    const index = Number(key)
    const place = index < 0 ? index + end + 1 : index
    return place < 0 || place > end ? this.#fail() : place
  }

  #get({ container, key }: Place): unknown {
    if (Array.isArray(container)) return container[this.#index(container, key)]
    return own(container as JsonObject, key)
  }

  #add({ container, key }: Place, value: unknown): void {
    if (!Array.isArray(container)) setOwn(container as JsonObject, key, value)
    else if (key === '-') container.push(value)
    else container.splice(this.#index(container, key, container.length), 0, value)
  }

  #set({ container, key }: Place, value: unknown): void {
    if (Array.isArray(container)) container[this.#index(container, key)] = value
    else setOwn(container as JsonObject, key, value)
  }

  #remove({ container, key }: Place): void {
    if (Array.isArray(container)) container.splice(this.#index(container, key), 1)
    else if (!Object.hasOwn(container as JsonObject, key)) this.#fail()
    else delete (container as JsonObject)[key]
  }
}

interface Place {
  readonly container: unknown
  readonly key: string
}
