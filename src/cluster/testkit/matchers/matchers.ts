/**
 * Matchers for objects of Kubernetes: for `expect.extend` of Vitest and Jest, and for `assert` of node:test. A failure
 * shows the object's conditions.
 */
import { AssertionError } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import { compileCondition } from '../../../client/conditions/condition.ts'
import { whyNotReady } from '../../../client/conditions/readiness.ts'
import type { Unstructured } from '../../../machinery/object.ts'
import { describeObject } from '../waiting/describe-object.ts'

/** The result of a matcher, in the form of Vitest and Jest. */
export interface MatcherResult {
  readonly pass: boolean
  /** The sentence of a failure, also of `.not`. */
  readonly message: () => string
}

interface Owner {
  readonly kind?: string | undefined
  readonly metadata: { readonly name?: string | undefined; readonly uid?: string | undefined }
}

/**
 * The matchers as methods of `expect(object)`, for declarations of types.
 * @example declare module 'vitest' { interface Matchers<T> extends KubernetesMatchers<T> {} }
 */
export interface KubernetesMatchers<R = unknown> {
  /**
   * Ready by the rules of its kind: rolled out, bound, established, complete, or with a condition `Ready`.
   * @example expect(await cluster.waitFor('pod/web', 'create')).not.toBeReady()
   */
  toBeReady(): R
  /**
   * A condition of the current generation. Default of `status`: `True`.
   * @example expect(deployment).toHaveCondition('Progressing')
   */
  toHaveCondition(type: string, status?: string): R
  /** These labels, and maybe others. */
  toHaveLabels(labels: Readonly<Record<string, string>>): R
  /** An owner reference to that object. */
  toBeOwnedBy(owner: Owner): R
  toHaveFinalizer(finalizer: string): R
}

type Matcher = (received: unknown, ...args: never[]) => MatcherResult

/**
 * The matchers for `expect.extend(matchers)`.
 * @example
 * import { matchers } from 'typernetes/test'
 * expect.extend(matchers)
 * expect(pod).toBeReady()
 */
export const matchers = {
  toBeReady(received: unknown): MatcherResult {
    const object = objectOf(received)
    const reason = object ? whyNotReady(object) : 'it does not exist'
    return resultOf(object, reason === undefined, 'be ready', reason)
  },
  toHaveCondition(received: unknown, type: string, status = 'True'): MatcherResult {
    const object = objectOf(received)
    const hasIt = object !== undefined && compileCondition(`${type}=${status}`)(object)
    return resultOf(object, hasIt, `have the condition ${type}=${status}`)
  },
  toHaveLabels(received: unknown, labels: Readonly<Record<string, string>>): MatcherResult {
    const object = objectOf(received)
    const found = object?.metadata.labels ?? {}
    const has = Object.entries(labels).every(([name, value]) => Object.hasOwn(found, name) && found[name] === value)
    return resultOf(object, has, `have the labels ${textOf(labels)}`, `its labels are ${textOf(found)}`)
  },
  toBeOwnedBy(received: unknown, owner: Owner): MatcherResult {
    const object = objectOf(received)
    const { ownerReferences = [] } = object?.metadata ?? {}
    const isOwned = ownerReferences.some(({ uid }) => uid === owner.metadata.uid)
    const owners = ownerReferences.map(({ kind, name }) => `${kind} ${name}`).join(', ') || 'none'
    return resultOf(object, isOwned, `be owned by ${owner.kind} ${owner.metadata.name}`, `its owners: ${owners}`)
  },
  toHaveFinalizer(received: unknown, finalizer: string): MatcherResult {
    const object = objectOf(received)
    const { finalizers = [] } = object?.metadata ?? {}
    const found = finalizers.join(', ') || 'none'
    return resultOf(object, finalizers.includes(finalizer), `have the finalizer ${finalizer}`, `it has ${found}`)
  },
} satisfies Readonly<Record<keyof KubernetesMatchers, Matcher>>

/**
 * Adds the matchers to `assert` of node:test, from Node 22.14 on; tests call them as `t.assert.toBeReady(pod)`.
 * @example
 * import { assert, test } from 'node:test'
 * registerMatchers(assert)
 */
export function registerMatchers(assert: { register(name: string, check: (...args: never[]) => void): void }): void {
  for (const [name, matcher] of Object.entries<Matcher>(matchers))
    assert.register(name, (received: never, ...args: never[]) => {
      const { pass, message } = matcher(received, ...args)
      if (!pass) throw new AssertionError({ message: message(), operator: name })
    })
}

/** Undefined for undefined and null: an object that does not exist. Throws a TypeError for other values. */
function objectOf(received: unknown): Unstructured | undefined {
  if (received === undefined || received === null) return undefined
  if (typeof received === 'object' && 'metadata' in received && isRecord(received.metadata))
    return received as Unstructured
  throw new TypeError(`${textOf(received)} is no object of Kubernetes: it has no metadata`)
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null

const textOf = (value: unknown): string =>
  isDeepStrictEqual(value, {}) ? 'none' : (JSON.stringify(value) ?? 'undefined')

function resultOf(object: Unstructured | undefined, pass: boolean, what: string, reason?: string): MatcherResult {
  const name = object ? `${object.kind ?? 'the object'} ${object.metadata.name}` : 'the object'
  return {
    pass,
    message() {
      if (pass) return `${name} was expected not to ${what}`
      const [, ...described] = describeObject(object, [])
      const lines = object ? described.filter((line) => line !== '  no events') : []
      return [`${name} was expected to ${what}${reason ? `: ${reason}` : ''}`, ...lines].join('\n')
    },
  }
}
