/**
 * Components: a program as a list of parts of one shape. Each names what it needs, starts, and gives something to those
 * after it. What must be undone at the end is registered in the lifetime.
 */
import type { Lifetime } from './lifetime.ts'

/** `Parts` has everything that components of one program give each other, by name. */
export interface Component<Parts> {
  /** For people: `access`, `flow control`. */
  readonly name: string
  readonly needs: readonly (keyof Parts)[]
  readonly gives: readonly (keyof Parts)[]
  start(parts: Parts, lifetime: Lifetime): Partial<Parts> | Promise<Partial<Parts>>
}

export interface Definition<Parts, Needs extends keyof Parts, Gives extends keyof Parts> {
  readonly name: string
  readonly needs: readonly Needs[]
  readonly gives: readonly Gives[]
  /** Rejects if the component cannot run; the program then ends what has started. */
  start(parts: Pick<Parts, Needs>, lifetime: Lifetime): Pick<Parts, Gives> | Promise<Pick<Parts, Gives>>
}

/**
 * Returns the function that defines components of one program. Using a part that is not in `needs`, or returning other
 * parts than those in `gives`, is an error of types.
 * @example
 * const component = componentsOf<{ log: Log; store: Store; api: Api }>()
 * const api = component({
 *   name: 'API',
 *   needs: ['store', 'log'],
 *   gives: ['api'],
 *   async start({ store, log }, lifetime) {
 *     const api = new Api(store, log)
 *     lifetime.onEnd(() => api.stop())
 *     await api.start()
 *     return { api }
 *   },
 * })
 */
export const componentsOf =
  <Parts>() =>
  <Needs extends keyof Parts, Gives extends keyof Parts>(
    definition: Definition<Parts, Needs, Gives>,
  ): Component<Parts> =>
    definition as unknown as Component<Parts>

/** Called when a component has started, which took `ms` milliseconds. */
export type Started = (name: string, ms: number) => void

/**
 * Starts the components one after the other and returns all parts, `given` among them. Rejects as the first component
 * that fails; the caller then ends the lifetime.
 */
export async function startComponents<Parts extends object>(
  components: readonly Component<Parts>[],
  given: Partial<Parts>,
  lifetime: Lifetime,
  started: Started = () => {},
): Promise<Parts> {
  let parts = { ...given }
  for (const component of components) {
    const missing = component.needs.filter((need) => !Object.hasOwn(parts, need))
    if (missing.length > 0)
      throw new Error(`component ${component.name} needs ${missing.join(', ')}: start it after what gives them`)
    const begun = performance.now()
    parts = { ...parts, ...(await component.start(parts as Parts, lifetime)) }
    started(component.name, performance.now() - begun)
  }
  return parts as Parts
}
