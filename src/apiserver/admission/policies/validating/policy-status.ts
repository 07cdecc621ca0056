/**
 * Updates the status of ValidatingAdmissionPolicies: the type warnings of their expressions, and the observed
 * generation.
 */
import type { KubeObject } from '../../../../machinery/object.ts'
import { StatusError } from '../../../../machinery/status-error.ts'
import { Informer } from '../../../registry/informer.ts'
import type { Registry } from '../../../registry/registry.ts'
import type { ServedApis } from '../../../registry/served-apis.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import { updateObject } from '../../../registry/write/update-object.ts'
import type { Writer } from '../../../registry/write/write-context.ts'
import { typeWarnings } from './type-checking.ts'
import type { ValidatingSpec } from './validating-evaluator.ts'

interface Policy extends KubeObject {
  readonly spec?: ValidatingSpec
  readonly status?: { readonly observedGeneration?: number; readonly [field: string]: unknown }
}

export interface PolicyStatusOptions {
  readonly registry: Registry
  /** The resource of ValidatingAdmissionPolicies. */
  readonly policies: ServedResource
  readonly apis: ServedApis
  readonly writer: Writer
  readonly log: (line: string) => void
}

/** The field manager: the name of upstream's controller. */
const manager = 'validatingadmissionpolicy-status'

const isOutdated = ({ metadata, status }: Policy): boolean =>
  (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)

export class PolicyStatus {
  readonly #options: PolicyStatusOptions
  readonly #informer: Informer<Policy>
  /** Names of policies to process. */
  readonly #queue = new Set<string>()
  #work: Promise<void> | undefined
  #stopped = false

  constructor(options: PolicyStatusOptions) {
    this.#options = options
    const { registry, policies: resource, log } = options
    this.#informer = new Informer<Policy>({
      registry,
      resource,
      log,
      changed: (policy) => policy && this.#enqueueIfOutdated(policy),
    })
  }

  start(): Promise<void> {
    return this.#informer.start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#informer.stop()
    await this.#work
  }

  #enqueueIfOutdated(policy: Policy): void {
    if (this.#stopped || !isOutdated(policy)) return
    this.#queue.add(policy.metadata.name!)
    this.#work ??= this.#processQueue().finally(() => {
      this.#work = undefined
    })
  }

  async #processQueue(): Promise<void> {
    for (const name of this.#queue) {
      this.#queue.delete(name)
      if (this.#stopped) return
      try {
        await this.#updateStatus(name)
      } catch (error) {
        const isDeleted = error instanceof StatusError && error.code === 404
        if (!isDeleted && !this.#stopped) this.#options.log(`cannot update the status of policy ${name}: ${error}`)
      }
    }
  }

  async #updateStatus(name: string): Promise<void> {
    const { policies, writer, apis } = this.#options
    const context = { ...writer, manager, resource: policies, namespace: '', name, subresource: 'status' }
    await updateObject(context, {
      startsFromLive: true,
      change: (live) => {
        const policy = live as Policy
        if (!isOutdated(policy)) return { object: policy }
        const expressionWarnings = typeWarnings(policy.spec!, apis)
        const typeChecking = expressionWarnings.length > 0 ? { expressionWarnings } : {}
        const status = { ...policy.status, observedGeneration: policy.metadata.generation, typeChecking }
        return { object: { ...policy, status } as Policy }
      },
    })
  }
}
