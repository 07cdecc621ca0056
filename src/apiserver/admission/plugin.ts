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
  readonly mutate?: (attributes: AdmissionAttributes) => void | Promise<void>
  /** Throws a StatusError to refuse. */
  readonly validate?: (attributes: AdmissionAttributes) => void | Promise<void>
}

/** All plug-ins, in order. */
export class Admission {
  readonly #mutating: readonly AdmissionPlugin[]
  readonly #validating: readonly AdmissionPlugin[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#mutating = plugins.filter(({ mutate }) => mutate)
    this.#validating = plugins.filter(({ validate }) => validate)
  }

  async mutate(attributes: AdmissionAttributes): Promise<void> {
    for (const { mutate } of this.#mutating) {
      const done = mutate!(attributes)
      if (done) await done
    }
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const { validate } of this.#validating) {
      const done = validate!(attributes)
      if (done) await done
    }
  }
}
