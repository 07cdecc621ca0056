/** Waits for a condition of any object, by a watch; after the timeout the error shows the state of the object. */

import { compileCondition, nameOfCondition, type WaitCondition } from '../../../client/conditions/condition.ts'
import type { DiscoveredResource } from '../../../client/discovery/discovery.ts'
import type { DynamicClient } from '../../../client/discovery/dynamic-client.ts'
import { events as eventKind } from '../../../client/kinds.ts'
import { waitFor } from '../../../client/objects/wait-for.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import { describeObject, type ShownEvent } from './describe-object.ts'

/** An object, such as one that `apply` has returned, or `KIND/NAME` as in kubectl commands: `deploy/web`. */
export type WaitTarget = string | KubeObject

/** The deadline of `waitFor`, and the namespace of its target. */
export interface WaitForOptions {
  /** The namespace of a target that has none. Default: `default`. */
  readonly namespace?: string
  /** Default: 30,000 ms. */
  readonly timeoutMs?: number
  /** Ends the wait with an error. */
  readonly signal?: AbortSignal
}

const defaultTimeoutMs = 30_000

interface Located {
  readonly resource: DiscoveredResource
  readonly namespace: string
  readonly name: string
}

/**
 * Resolves with the object, or undefined for one that does not exist. Rejects with an Error after the timeout: it has
 * the phase, the conditions and the last events of the object and of its children.
 */
export async function waitForObject(
  dynamic: DynamicClient,
  target: WaitTarget,
  condition: WaitCondition,
  { namespace = 'default', timeoutMs = defaultTimeoutMs, signal }: WaitForOptions = {},
): Promise<Unstructured | undefined> {
  const check = compileCondition(condition)
  const located = await locate(dynamic, target, namespace)
  const { resource } = located
  const place = { namespace: located.namespace, name: located.name }
  let last: Unstructured | undefined
  let thrown: { readonly error: unknown } | undefined
  try {
    return await waitFor<Unstructured>(
      dynamic.client,
      { ...resource, objects: undefined },
      place,
      (object) => {
        last = object
        try {
          return check(object)
        } catch (error) {
          thrown = { error }
          throw error
        }
      },
      { timeoutMs, signal },
    )
  } catch (error) {
    if (thrown || signal?.aborted) throw error
    const events = await eventsOf(dynamic, located, last)
    const label = `${resource.kind} ${place.namespace ? `${place.namespace}/` : ''}${place.name}`
    const lines = describeObject(last, events)
    throw new Error(
      `${label} did not meet ${nameOfCondition(condition)} within ${timeoutMs / 1000} s:\n${lines.join('\n')}`,
      { cause: error },
    )
  }
}

async function locate(dynamic: DynamicClient, target: WaitTarget, namespace: string): Promise<Located> {
  if (typeof target !== 'string') {
    const resource = await dynamic.mapper.forKind(target.apiVersion, target.kind)
    const { name = '', namespace: own = namespace } = target.metadata
    return { resource, namespace: resource.namespaced ? own : '', name }
  }
  const [kind = '', name = '', ...rest] = target.split('/')
  if (kind === '' || name === '' || rest.length > 0)
    throw new ExplainedError(`${JSON.stringify(target)} is no object: write KIND/NAME, such as deployment/web.`)
  const resource = await dynamic.mapper.forName(kind)
  return { resource, namespace: resource.namespaced ? namespace : '', name }
}

/** The events of an object and of the objects that are named after it, such as the pods of a Deployment. */
async function eventsOf(
  { client }: DynamicClient,
  { resource, namespace, name }: Located,
  object: Unstructured | undefined,
): Promise<readonly ShownEvent[]> {
  try {
    const { items } = await client.list<KubeObject & ShownEvent>(
      { ...eventKind, objects: undefined },
      { namespace: namespace || 'default' },
    )
    return items.filter(({ involvedObject: of = {} }) =>
      of.kind === resource.kind && of.name === name
        ? !object?.metadata.uid || !of.uid || of.uid === object.metadata.uid
        : (of.name?.startsWith(`${name}-`) ?? false),
    )
  } catch {
    // The state of the object is worth more than a second error.
    return []
  }
}
