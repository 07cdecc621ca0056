/** Waits for a condition of an object with a watch, not by polling. */
import type { KubeObject } from '../../machinery/object.ts'
import { Informer } from '../informers/informer.ts'
import { nameSelector, type Resource } from '../resource.ts'
import type { RestClient } from '../rest/rest-client.ts'
import type { ObjectName } from './create-or-update.ts'

/** The deadline of `waitFor`. */
export interface WaitOptions {
  /** In ms. Default: 60,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

const defaultTimeoutMs = 60_000

/**
 * Resolves with the object as soon as `condition` returns true; the condition gets undefined while the object does not
 * exist. Rejects with an Error that contains the last state after the timeout, and when `signal` is aborted.
 * @example await waitFor(client, pods, { namespace: 'default', name: 'web' }, hasCondition('Ready'))
 */
export async function waitFor<T extends KubeObject>(
  client: RestClient,
  resource: Resource<T>,
  { namespace, name }: ObjectName,
  condition: (object: T | undefined) => boolean,
  { timeoutMs = defaultTimeoutMs, signal }: WaitOptions = {},
): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>()
  const description = `${resource.kind} ${namespace ? `${namespace}/` : ''}${name}`
  let lastError = ''
  const informer = new Informer<T>({
    client,
    resource,
    namespace,
    fieldSelector: nameSelector(name),
    log: (line) => {
      lastError = `; ${line}`
    },
  })
  const current = (): T | undefined => informer.get(namespace ?? '', name)
  const check = (): void => {
    try {
      if (condition(current())) resolve(current())
    } catch (error) {
      reject(error)
    }
  }
  informer.onChange(check)
  const stopping = new AbortController()
  const cancel = (): void => reject(new Error(`${description}: waiting was canceled`))
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  const timer = setTimeout(() => {
    const { resourceVersion } = current()?.metadata ?? {}
    reject(
      new Error(
        `${description} did not meet the condition within ${timeoutMs / 1000} s: ` +
          `${resourceVersion ? `last seen at resourceVersion ${resourceVersion}` : 'it does not exist'}${lastError}`,
      ),
    )
  }, timeoutMs)
  const running = informer.run(stopping.signal, check)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
    stopping.abort()
    await running
  }
}

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/**
 * A condition for `waitFor`: the object has a condition (`status.conditions`) with this status. Default: `True`.
 * @example await waitFor(client, nodes, { name: 'node-1' }, hasCondition('Ready'))
 */
export const hasCondition =
  (type: string, status = 'True') =>
  (object: KubeObject | undefined): boolean =>
    (object as WithConditions | undefined)?.status?.conditions?.some(
      (condition) => condition.type === type && condition.status === status,
    ) ?? false

/**
 * A condition for `waitFor`: the object does not exist.
 * @example await waitFor(client, pods, { namespace: 'default', name: 'web' }, isDeleted)
 */
export const isDeleted = (object: KubeObject | undefined): boolean => object === undefined
