/** Waiting for an object to be as one wants it: by a watch, without asking again and again. */
import type { KubeObject } from '../../machinery/object.ts'
import { Informer } from '../informers/informer.ts'
import { nameSelector, type Resource } from '../resource.ts'
import type { RestClient } from '../rest/rest-client.ts'
import type { ObjectName } from './write-state.ts'

export interface WaitOptions {
  /** Gives up after so many ms; 60,000 unless said. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

const usualTimeoutMs = 60_000

/**
 * Resolves with the object as soon as `condition` holds for it; the condition gets undefined while there is no such
 * object. Rejects with an Error that tells what was seen last when the time is over, and when `signal` is aborted.
 */
export async function waitFor<T extends KubeObject>(
  client: RestClient,
  of: Resource<T>,
  { namespace, name }: ObjectName,
  condition: (object: T | undefined) => boolean,
  { timeoutMs = usualTimeoutMs, signal }: WaitOptions = {},
): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>()
  const what = `${of.kind} ${namespace ? `${namespace}/` : ''}${name}`
  let trouble = ''
  const informer = new Informer<T>({
    client,
    resource: of,
    namespace,
    fieldSelector: nameSelector(name),
    log: (line) => {
      trouble = `; ${line}`
    },
  })
  const current = (): T | undefined => informer.get(namespace ?? '', name)
  const look = (): void => {
    try {
      if (condition(current())) resolve(current())
    } catch (error) {
      reject(error)
    }
  }
  informer.onChange(look)
  const stopping = new AbortController()
  const giveUp = (): void => reject(new Error(`${what}: waiting was given up`))
  if (signal?.aborted) giveUp()
  signal?.addEventListener('abort', giveUp, { once: true })
  const late = setTimeout(() => {
    const { resourceVersion } = current()?.metadata ?? {}
    reject(
      new Error(
        `${what} did not come to be as wanted within ${timeoutMs / 1000} s: ` +
          `${resourceVersion ? `seen last at ${resourceVersion}` : 'there is none'}${trouble}`,
      ),
    )
  }, timeoutMs)
  const running = informer.run(stopping.signal, look)
  try {
    return await promise
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', giveUp)
    stopping.abort()
    await running
  }
}

interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Whether an object has a condition (`status.conditions`), for `waitFor`; `True` unless said. */
export const hasCondition =
  (type: string, status = 'True') =>
  (object: KubeObject | undefined): boolean =>
    (object as Conditioned | undefined)?.status?.conditions?.some(
      (condition) => condition.type === type && condition.status === status,
    ) ?? false

/** Whether there is no such object (any more), for `waitFor`. */
export const isGone = (object: KubeObject | undefined): boolean => object === undefined
