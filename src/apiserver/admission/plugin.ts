/** Admission: plug-ins look at every write after it was decoded; some change it, some refuse it. One file per plug-in. */
import type { KubeObject } from '../../machinery/object.ts'
import type { UserInfo } from '../http/exchange.ts'
import type { ServedResource } from '../registry/served-resource.ts'

/** What a write is about. `object` is absent for deletes, `old` for creates. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: ServedResource
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly user: UserInfo
  readonly object?: KubeObject
  readonly old?: KubeObject
  readonly dryRun: boolean
}

export interface AdmissionPlugin {
  readonly name: string
  /** May change `object`; throws a StatusError to refuse. */
  readonly mutate?: Step
  /** Throws a StatusError to refuse. */
  readonly validate?: Step
}

type Step = (attributes: AdmissionAttributes) => void | Promise<void>

/** All plug-ins, in order. What only one of them has to wait for is a promise. */
export class Admission {
  readonly #mutating: readonly Step[]
  readonly #validating: readonly Step[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#mutating = plugins.flatMap(({ mutate }) => mutate ?? [])
    this.#validating = plugins.flatMap(({ validate }) => validate ?? [])
  }

  mutate(attributes: AdmissionAttributes): void | Promise<void> {
    return inOrder(this.#mutating, attributes)
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    return inOrder(this.#validating, attributes)
  }
}

function inOrder(steps: readonly Step[], attributes: AdmissionAttributes, from = 0): void | Promise<void> {
  for (let i = from; i < steps.length; i++) {
    const done = steps[i]!(attributes)
    if (done) return done.then(() => inOrder(steps, attributes, i + 1))
  }
}
